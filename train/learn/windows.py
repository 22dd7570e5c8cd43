"""Windows of long materials: consecutive claims, and the queries that they alone answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memenvs.material.material import Material

SEED = 0x3D1F  # of the windows' lengths, whatever the training's: all seeds train on the same


def cut_windows(
    materials: Sequence[Material], shortest: int, longest: int, stride: int
) -> list[Material]:
    """Cut windows of ``shortest`` to ``longest`` claims, beginning every ``stride`` claims.

    Windows that answer nothing are left out. Raises ``ValueError`` where none is left.
    """
    generator = np.random.default_rng(SEED)
    found = []
    for material in materials:
        for start in range(0, max(len(material.claims) - shortest, 0) + 1, stride):
            size = int(generator.integers(shortest, longest, endpoint=True))
            window = cut_window(material, start, start + size)
            found += [] if window is None else [window]
    if not found:
        raise ValueError(f"no {shortest} to {longest} consecutive claims answer any query")
    return found


def cut_window(material: Material, start: int, stop: int) -> Material | None:
    """Give claims ``start`` to ``stop`` as a material; None where they answer no query.

    Supports that reach outside are left out, and so are items without any and queries that no item
    answers; what is left of the weights counts for all.
    """
    claims = material.claims[start:stop]
    inside = {claim.id for claim in claims}
    items = []
    for item in material.items:
        supports = tuple(s for s in item.supports if inside.issuperset(s))
        if supports:
            conflicts = tuple(c for c in item.conflicts if c in inside)
            items.append(replace(item, supports=supports, conflicts=conflicts))
    asked = {query for item in items for query in item.answers}
    queries = tuple(query for query in material.queries if query.id in asked)
    if not sum(query.weight for query in queries) > 0:
        return None
    return Material(
        f"{material.name}-{start}-{min(stop, len(material.claims))}", claims, tuple(items), queries
    )


def share_of_slots(
    capacity: int, materials: Sequence[Material], windows: Sequence[Material]
) -> int:
    """Give the slots of a window that stand for ``capacity`` slots of a whole material."""
    whole = float(np.mean([len(material.claims) for material in materials]))
    part = float(np.mean([len(window.claims) for window in windows]))
    return max(1, round(capacity * part / whole))
