"""EntailmentBank (Dalvi et al., 2021), task 2: proof trees over science facts, with distractors.

A claim is a sentence of a tree's context; each step of its proof makes an item whose support is
the sentences at the leaves below the step, and a query, the step's conclusion.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.materials.datasets.conversion import Conversion, Note, expect, member
from memenvs.strict_json import read_json_lines

SENTENCE = re.compile(r"(?:^|\s)(sent\d+):(?=\s)")
STEP = re.compile(
    r"(?P<premises>(?:sent|int)\d+(?:\s*&\s*(?:sent|int)\d+)*)\s*->\s*"
    r"(?:hypothesis|(?P<name>int\d+):\s*(?P<text>.*\S))",
    re.DOTALL,
)
HYPOTHESIS = "hypothesis"


def read_entailment_bank(path: str | os.PathLike[str], trees: int = 20) -> Conversion:
    """Read EntailmentBank JSON Lines: one material for every ``trees`` trees, in the file's order.

    Trees that remain make a last, smaller material. Claims stand in the order of trees and
    sentences, group = tree; a sentence that several trees use is one claim, of the first of them.
    A conclusion that several steps reach is one item with all their leaf sets as supports, and one
    query whose weight is the number of the steps. Raises ``MaterialError`` that names the file,
    the line and the field; ``ValueError`` where ``trees`` is not positive.
    """
    if trees < 1:
        raise ValueError(f"trees is {trees}; give at least 1")
    file = os.fspath(path)
    lines = read_json_lines(path)
    notes: list[Note] = []
    materials = []
    try:
        parsed = [_tree(where, value) for where, value in lines]
        for name, times in Counter(tree.name for tree in parsed).items():
            if times > 1:
                raise MaterialError(f"two trees are named '{name}'", field="id")
        for start in range(0, len(parsed), trees):
            part = parsed[start : start + trees]
            materials.append(_material(f"trees-{start + 1}-{start + len(part)}", part, notes))
    except MaterialError as error:
        raise error.within(file) from None
    return Conversion(tuple(materials), tuple(notes))


@dataclass(frozen=True)
class _Tree:
    where: str
    name: str
    sentences: dict[str, str]
    proof: str
    hypothesis: str


@dataclass
class _Draft:
    """Claims, and conclusions with their leaf sets, under way to a material."""

    claims: dict[str, Claim] = field(default_factory=dict)  # by text
    supports: dict[str, dict[frozenset[str], None]] = field(default_factory=dict)  # by conclusion
    steps: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)  # of conclusions


def _tree(where: str, value: Any) -> _Tree:
    try:
        expect(value, dict, "a tree")
        tree = _Tree(
            where,
            member(value, "id", str),
            _sentences(member(value, "context", str)),
            member(value, "proof", str),
            member(value, "hypothesis", str).strip(),
        )
        for name, text in (("id", tree.name), ("hypothesis", tree.hypothesis)):
            if not text:
                raise MaterialError("is empty; give a text", field=name)
    except MaterialError as error:
        raise error.within("", where) from None
    return tree


def _sentences(context: str) -> dict[str, str]:
    before, *parts = SENTENCE.split(context + " ")
    names, texts = parts[::2], [text.strip() for text in parts[1::2]]
    if before.strip() or not names:
        raise MaterialError("does not begin with 'sent1: '", field="context")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MaterialError(f"numbers two sentences '{twice}'", field="context")
    for name, text in zip(names, texts, strict=True):
        if not text:
            raise MaterialError(f"leaves '{name}' empty", field="context")
    return dict(zip(names, texts, strict=True))


def _material(name: str, trees: list[_Tree], notes: list[Note]) -> Material:
    draft = _Draft()
    for tree in trees:
        _add(draft, tree, name, notes)
    items, queries = [], []
    place = {claim.id: n for n, claim in enumerate(draft.claims.values())}
    for text, supports in draft.supports.items():
        identifier = draft.names[text]
        ordered = tuple(tuple(sorted(support, key=place.__getitem__)) for support in supports)
        items.append(Item(id=identifier, text=text, supports=ordered, answers=(identifier,)))
        queries.append(Query(id=identifier, text=text, weight=draft.steps[text]))
    try:
        return Material(name, tuple(draft.claims.values()), tuple(items), tuple(queries))
    except MaterialError as error:
        raise error.within("", f"{name} ({trees[0].where} to {trees[-1].where})") from None


def _add(draft: _Draft, tree: _Tree, material: str, notes: list[Note]) -> None:
    leaves: dict[str, frozenset[str]] = {}
    for name, text in tree.sentences.items():
        claim = Claim(id=f"{tree.name}:{name}", text=text, group=tree.name)
        leaves[name] = frozenset({draft.claims.setdefault(text, claim).id})
    for step in filter(None, map(str.strip, tree.proof.split(";"))):
        match = STEP.fullmatch(step)
        premises = re.findall(r"\w+", match["premises"]) if match else []
        name = (match["name"] or HYPOTHESIS) if match else ""
        reason = ""
        if match is None:
            reason = "is not of the form 'sent1 & int2 -> int3: text'"
        elif name in leaves:
            reason = "concludes again what the proof concluded before"
        elif not all(premise in leaves for premise in premises):
            reason = "rests on what the proof has not given before"
        if match is None or reason:
            notes.append(Note("left out", material, f"tree '{tree.name}'", reason, "proof", step))
            continue
        leaves[name] = frozenset().union(*(leaves[premise] for premise in premises))
        text = match["text"] or tree.hypothesis
        draft.supports.setdefault(text, {})[leaves[name]] = None
        draft.names.setdefault(text, f"{tree.name}:{name}")
        draft.steps[text] += 1
    if HYPOTHESIS not in leaves:
        notes.append(
            Note(
                "left out",
                material,
                f"tree '{tree.name}'",
                "its proof does not reach it",
                HYPOTHESIS,
            )
        )
