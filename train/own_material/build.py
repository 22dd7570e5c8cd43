"""A material out of documents and questions, with an account of how each question was linked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.text.cache import Cache
from memenvs.text.embedders.caching import CachedEncoder
from memenvs.text.embedders.named import DIMENSION
from memenvs.text.encoder_files import save_encoder
from memenvs.text.encoders import Encoder, HashingEncoder, embed
from memenvs.text.tfidf import TfidfEncoder
from memenvs.train.own_material.judging import LinkJudge
from memenvs.train.own_material.linking import MIN_SCORE, Linker
from memenvs.train.own_material.links import METHODS, Linked, links_path, save_links
from memenvs.train.own_material.questions import Question, read_questions
from memenvs.train.own_material.reading import find_documents, passages_of, read_document
from memenvs.train.own_material.segment import LIMIT, By, Placed, claims_of, since_the_first

Advance: TypeAlias = Callable[[int], None]
Progress: TypeAlias = Callable[[str, int], Advance]  # what is done, of how many: then, how many are
SHOWN = 80  # characters of a question in the report


def silent(what: str, total: int) -> Advance:
    """Report no progress."""
    return lambda done: None


@dataclass(frozen=True)
class Built:
    """The material, how each question was linked, the encoder, and what was left out."""

    material: Material
    linked: tuple[Linked, ...]
    encoder: Encoder
    documents: int
    notes: Counter[str]

    def report(self) -> str:
        """Say what was built, what supports the questions, and which are left out and why."""
        methods = Counter(entry.method for entry in self.linked if entry.method)
        failed = [entry for entry in self.linked if not entry.found]
        ways = [f"{methods[method]} by {method}" for method in METHODS if methods[method]]
        lines = [
            f"{self.material.name}: {len(self.material.claims)} claims from {self.documents} "
            f"documents; {len(self.linked) - len(failed)} of {len(self.linked)} questions linked: "
            f"{', '.join(ways)}"
        ]
        lines += [f"{note}: {n} x" if n > 1 else note for note, n in self.notes.items()]
        lines += [
            f"linked by {entry.method}: {entry.question}: {entry.reason}"
            for entry in self.linked
            if entry.found and entry.reason
        ]
        return "\n".join([*lines, *(self._failure(entry) for entry in failed)])

    def _failure(self, entry: Linked) -> str:
        near = entry.nearest
        best = ""
        if near is not None:
            claims = ", ".join(self.material.claim_ids[claim] for claim in near.claims)
            best = f" (best: {claims} by {near.method}, {near.score:.2f})"
        text = " ".join(entry.text.split())
        shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        return f"left out: {entry.question}: {shown}: {entry.reason}{best}"

    def save(self, out: str | os.PathLike[str]) -> None:
        """Write links and encoder beside the material, then the material itself, each whole."""
        save_links(self.linked, self.material.claim_ids, links_path(out))
        save_encoder(self.encoder, out)
        self.material.save(out)


def build(
    documents: Sequence[str],
    questions: str | os.PathLike[str],
    name: str,
    *,
    by: By | None = None,
    language: str | None = None,
    encoder: Encoder | None = None,
    dimension: int = DIMENSION,
    min_score: float = MIN_SCORE,
    cache: Cache | None = None,
    judge: LinkJudge | None = None,
    progress: Progress = silent,
) -> Built:
    """Read documents and questions, link them, and attach vectors.

    ``encoder`` None stands for TF-IDF: LSA of ``dimension`` fitted on the claims for the vectors,
    all its weights for links. A question that no claim supports is left out of the material, and
    told in the report. Raises ``MaterialError`` that names the file, and the record; also where no
    question is linked.
    """
    cache = cache or Cache(None)
    notes: Counter[str] = Counter()
    asked, unread = read_questions(questions)
    notes.update({f"left out: {questions}: field '{k}' is not read": n for k, n in unread.items()})
    files, others = find_documents(documents, questions)
    notes.update({f"left out: {path}: {reason}": 1 for path, reason in others.items()})
    placed = _read(files, by, language, cache, notes, progress)
    claims = since_the_first(placed)
    if isinstance(encoder, HashingEncoder) or encoder is None:
        linking = None
    else:
        linking = CachedEncoder(
            encoder, cache, progress("encoding", 2 * len(claims) + 2 * len(asked))
        )
    advance = progress("linking", len(asked))
    linked = []
    for entry in Linker(placed, asked, linking, judge, min_score).linked():
        linked.append(entry)
        advance(1)
    material = _material(name, claims, asked, linked, os.fspath(questions))
    used = encoder or TfidfEncoder.fit([material], dimension)
    embedded = embed(material, linking or used)
    return Built(embedded, tuple(linked), used, len(files), notes)


def _read(
    files: Sequence[tuple[str, Path]],
    by: By | None,
    language: str | None,
    cache: Cache,
    notes: Counter[str],
    progress: Progress,
) -> list[Placed]:
    if not files:
        raise MaterialError("there is no document to read; name files, or a folder that holds some")
    advance = progress("reading", len(files))
    placed: list[Placed] = []
    owners: dict[str, str] = {}
    for name, path in files:
        document, kept = read_document(name, path, cache)
        passages = passages_of(document, kept, cache)
        for one in claims_of(document, passages, by, language, LIMIT - len(placed)):
            if one.claim.id in owners:
                raise MaterialError(
                    f"names a claim of {owners[one.claim.id]} already; rename one",
                    record=f"message '{one.claim.id}'",
                    field="id",
                    file=name,
                )
            owners[one.claim.id] = name
            placed.append(one)
        notes.update({f"{name}: {note}": n for note, n in document.notes.items()})
        advance(1)
    return placed


def _material(
    name: str,
    claims: Sequence[Claim],
    questions: Sequence[Question],
    linked: Sequence[Linked],
    file: str,
) -> Material:
    items, queries = [], []
    for question, entry in zip(questions, linked, strict=True):
        if not entry.found:
            continue
        supports = dict.fromkeys(
            tuple(claims[n].id for n in sorted(found.claims)) for found in entry.found
        )
        try:
            query = Query(
                id=question.id, text=question.text, answer=question.answer, weight=question.weight
            )
        except MaterialError as error:
            raise error.within(file, question.where) from None
        items.append(Item(id=f"n-{query.id}", supports=tuple(supports), answers=(query.id,)))
        queries.append(query)
    if not queries:
        reasons = Counter(entry.reason for entry in linked).most_common(1)
        raise MaterialError(
            f"none of its {len(linked)} questions could be linked to a claim, most because "
            f"{reasons[0][0]}; give evidence, or lower --min-score",
            file=file,
        )
    try:
        return Material(name, tuple(claims), tuple(items), tuple(queries))
    except MaterialError as error:
        raise error.within(file) from None
