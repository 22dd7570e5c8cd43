"""Items of a material that is told by its claims and by which of them answer each query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memenvs.material.records import Claim, Item

Support = tuple[str, ...]


def items_of(
    claims: Iterable[Claim], supports: Mapping[str, Sequence[Sequence[str]]]
) -> tuple[Item, ...]:
    """Give an item for what answers queries, and one for each claim that none yields by itself.

    ``supports`` holds, by query, the sets of claims of which any answers it. Queries with equal
    supports share an item. The other claims have items that answer nothing, so that a reader of K
    items meets what it would meet in the texts.
    """
    shared: dict[frozenset[frozenset[str]], tuple[tuple[Support, ...], list[str]]] = {}
    for query, sets in supports.items():
        unique = {frozenset(each): tuple(dict.fromkeys(each)) for each in sets}
        shared.setdefault(frozenset(unique), (tuple(unique.values()), []))[1].append(query)
    found = [
        Item(id=f"n-{queries[0]}", supports=sets, answers=tuple(queries))
        for sets, queries in shared.values()
    ]
    alone = {each[0] for item in found for each in item.supports if len(each) == 1}
    own = (claim.id for claim in claims if claim.id not in alone)
    return (*found, *(Item(id=f"own-{name}", supports=((name,),), answers=()) for name in own))
