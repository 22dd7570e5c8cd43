"""From a draft to an ordinary ``Material``."""

from __future__ import annotations

from itertools import product

import numpy as np

from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.materials.generator.contents import ALONE
from memenvs.materials.generator.draft import NONE, SESSION, Draft, draw_draft
from memenvs.materials.generator.parameters import Parameters, World, draw_world


def generate(
    parameters: Parameters,
    generator: np.random.Generator,
    world: World | None = None,
    name: str = "generated",
    *,
    tokens: bool = False,
) -> Material:
    """Draw a material; without a ``world`` from one of its own.

    A claim costs 1, or its tokens where they are asked for.
    """
    if world is None:
        world = draw_world(parameters, generator)
    return assemble(draw_draft(parameters, world, generator), name, tokens=tokens)


def assemble(draft: Draft, name: str, *, tokens: bool) -> Material:
    """Turn a draft into records: an item for each claim, and for each way to put parts together."""
    return Material(name, _claims(draft, tokens), _items(draft), _queries(draft))


def _claims(draft: Draft, tokens: bool) -> tuple[Claim, ...]:
    cost = draft.cost if tokens else np.ones_like(draft.cost)
    columns = zip(
        draft.truth.tolist(),
        draft.source.tolist(),
        draft.time.tolist(),
        draft.confidence.tolist(),
        cost.tolist(),
        draft.importance.tolist(),
        draft.style.tolist(),
        draft.embedding.tolist(),
        strict=True,
    )
    return tuple(
        Claim(
            id=f"c{place}",
            truth=truth,
            source=f"s{source}",
            time=time,
            group=f"session-{place // SESSION}",
            confidence=confidence,
            cost=price,
            cues=(("importance", importance), ("style", style)),
            embedding=vector,
        )
        for place, (
            truth,
            source,
            time,
            confidence,
            price,
            importance,
            style,
            vector,
        ) in enumerate(columns)
    )


def _items(draft: Draft) -> tuple[Item, ...]:
    contents = draft.contents
    answers = [
        tuple(f"q{query}" for query in np.flatnonzero(row).tolist()) for row in contents.answers
    ]
    against: dict[int, list[str]] = {}
    for claim, withdrawn in enumerate(draft.withdraws.tolist()):
        if withdrawn != NONE:
            against.setdefault(withdrawn, []).append(f"c{claim}")
    stated: dict[int, list[int]] = {}  # claims that state each content
    for claim, content in enumerate(draft.content.tolist()):
        stated.setdefault(content, []).append(claim)
    items = [
        Item(
            id=f"n{claim}",
            supports=((f"c{claim}",),),
            answers=answers[content],
            conflicts=tuple(against.get(claim, ())),
        )
        for claim, content in enumerate(draft.content.tolist())
        if contents.composite[content] == ALONE
    ]
    for whole in np.unique(contents.composite[contents.composite != ALONE]).tolist():
        parts = np.flatnonzero(contents.composite == whole).tolist()
        items += [
            Item(
                id="n" + "+".join(map(str, claims)),
                supports=(tuple(f"c{claim}" for claim in claims),),
                answers=answers[whole],
            )
            for claims in product(*(stated[part] for part in parts))
        ]
    return tuple(items)


def _queries(draft: Draft) -> tuple[Query, ...]:
    contents = draft.contents
    return tuple(
        Query(id=f"q{query}", weight=weight, embedding=vector)
        for query, (weight, vector) in enumerate(
            zip(contents.weight.tolist(), contents.query_vector.tolist(), strict=True)
        )
    )
