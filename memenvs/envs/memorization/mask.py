"""The action mask: what is legal to do with the claim at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memenvs.material.incidence import BoolArray

if TYPE_CHECKING:
    from memenvs.envs.memorization.writing import Writing


def legal_actions(episode: Writing) -> BoolArray:
    """Give the legal actions ``(n,)``; never none."""
    rules, actions, slots = episode.rules, episode.actions, episode.slots
    if rules.action == "priority":
        return np.ones(1, dtype=bool)
    mask = np.zeros(actions.n, dtype=bool)
    mask[actions.PASS] = True
    if episode.is_over():
        return mask
    claim = episode.considered
    if claim is not None:
        mask[1 : 1 + rules.capacity] = writable_slots(episode, claim)
    if actions.clears and (claim is None or not episode.pool):
        mask[actions.first_clear : actions.first_clear + rules.capacity] = slots.occupied
    if episode.pool and claim is None:
        free = np.ones(len(episode.seen), dtype=bool)
        free[slots.claims[slots.occupied]] = False
        mask[actions.first_consider : actions.first_consider + len(free)] = free
    return mask


def writable_slots(episode: Writing, claim: int) -> BoolArray:
    """Give the slots ``(S,)`` a claim may be written into: the first free one, or all it fits."""
    rules, slots, cost = episode.rules, episode.slots, episode.features.cost
    legal = np.zeros(rules.capacity, dtype=bool)
    free = np.flatnonzero(~slots.occupied)
    if len(free) and episode.fits(claim):
        legal[free[0]] = True
    elif rules.budget is None:
        legal[:] = True
    else:
        after = slots.cost + cost[claim] - cost[slots.claims]
        legal[:] = slots.occupied & (after <= rules.allowance)
    return legal
