"""Union-find closures of profiles that are near each other: plain, and guarded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memenvs.policies.bisimulation.rounds import Profile


def closed(region: Iterable[Profile], closure: Literal["plain", "guarded"]) -> list[list[Profile]]:
    """Split a region, whose profiles are connected, into the clusters of the closure.

    The plain closure makes it one. The guarded closure takes the pairs in increasing distance, ties
    by their oldest states, and unites two clusters only if no pair across them shares an action
    and is further apart than the threshold: a chain of near states must not join far ones.
    """
    profiles = sorted(region, key=lambda profile: profile.oldest)
    if closure == "plain":
        return [profiles]
    place = {profile: i for i, profile in enumerate(profiles)}
    pairs = sorted(
        (apart, i, place[other])
        for i, profile in enumerate(profiles)
        for other, apart in profile.near.items()
        if i < place[other]
    )
    cluster_of = list(range(len(profiles)))
    members = {i: [profile] for i, profile in enumerate(profiles)}
    far = {i: set(profile.far) for i, profile in enumerate(profiles)}  # from some member
    for _, i, j in pairs:
        first, second = cluster_of[i], cluster_of[j]
        if first == second:
            continue
        if len(members[first]) < len(members[second]):
            first, second = second, first
        if not far[first].isdisjoint(members[second]):
            continue
        for profile in members[second]:
            cluster_of[place[profile]] = first
        members[first] += members.pop(second)
        far[first] |= far.pop(second)
    return list(members.values())
