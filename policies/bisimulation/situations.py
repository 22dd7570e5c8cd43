"""Decision situations of the memorization environments in coarse steps: what pages are there."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.base import Observation, State
from memenvs.policies.bisimulation.adapter import Look
from memenvs.policies.bisimulation.graph import FAILURE, NEITHER, SUCCESS
from memenvs.policies.bisimulation.memory import UNKNOWN
from memenvs.policies.rules.joint import JointRule
from memenvs.policies.rules.rule import Rule

LEVEL = 0.5  # settled share from which an episode is a success, where nothing says otherwise
PHASES = 4
MOMENTS = 1024  # of an episode: no situation comes back, so that nothing is a self-loop
# Borders of the coarse steps.
FILL = (0.01, 0.5, 0.99)  # of the slots
ADVANTAGE = (0.35, 0.5, 0.65)  # the claim's worth beside the lowest stored one's, as a share
SIMILARITY = (0.5, 0.85)
CUE = (1 / 3, 2 / 3)  # importance, or else confidence
RECORD = (-0.5, 0.5)  # successes less failures


class Name(IntEnum):
    """Templates: what is done, by the role of the slot and never by its number."""

    PASS = 0
    FREE = 1
    LOWEST = 2  # of the base policy's scores
    LEAST_CREDITED = 3
    MOST_SIMILAR = 4
    OLDEST = 5
    OTHER = 6  # another slot
    CLEAR = 7
    CONSIDER = 8


ROLES = (Name.OLDEST, Name.MOST_SIMILAR, Name.LEAST_CREDITED, Name.LOWEST)  # the last one counts


class Situations:
    """Reads memorization environments for a base policy, whose scores order the alternatives.

    The signature is the situation: phase, fill, the claim's worth beside the lowest stored one's,
    its similarity to what is stored, its importance (or confidence), its source's record, which
    roles the lowest slot leaves to others, and the moment. The label is phase and fill. An episode
    is a success where the settled share reaches ``level``, which ``fit`` sets. Raises
    ``ValueError`` for a base policy without scores, and for priorities.
    """

    def __init__(self, base: Rule, level: float | None = None) -> None:
        scores = isinstance(base, JointRule) or type(base).act is Rule.act
        if not scores:
            raise ValueError(f"the base policy {type(base).__name__} does not score claims")
        if base.rules.action == "priority":
            raise ValueError("the bisimulation memory names slots; use action='slots'")
        self.base = base
        self.level = level
        self._layout, self._rules, self._actions = base.layout, base.rules, base.actions

    def role(self, earned: float, steps: int, terminated: bool) -> int:
        """Say how an episode ended that earned so much in so many steps."""
        if not terminated:
            return NEITHER
        level = LEVEL if self.level is None else self.level
        return outcome(self.share(earned, steps), level)

    def fit(self, ended: Sequence[tuple[float, int]]) -> None:
        """Call the better half of some episodes a success: what each earned, in so many steps."""
        self.level = float(np.median([self.share(*each) for each in ended]))

    def share(self, earned: float, steps: int) -> float:
        """Share of the queries of an episode that were answered."""
        return earned / self._rules.total(steps)

    def read(
        self, observation: Observation, masks: BoolArray, state: State
    ) -> tuple[list[Look], list[list[int]], State]:
        """Give the looks and shortlists of a batch, and the base policy's next state."""
        worth = self._worth(observation, state)
        first, state = self.base.act(observation, masks, state)
        slots = self._actions.slots
        legal = masks[:, 1 : 1 + slots]
        valid = observation["memory"][..., self._layout.index("valid")] == 1
        names = self._names(observation, worth, legal, valid)
        labels, features = self._features(observation, worth, names)
        looks, shortlists = [], []
        for i, choice in enumerate(np.asarray(first).tolist()):
            writes = legal[i] & (names[i] != Name.OTHER)
            look = self._look(int(labels[i]), features[i].tolist(), names[i], writes, masks[i])
            looks.append(look)
            shortlists.append(self._shortlist(choice, worth[i], writes))
        return looks, shortlists, state

    def _worth(self, observation: Observation, state: State) -> FloatArray:
        """Scores of the slots and the considered claim: ``(B, S + 1)``."""
        if isinstance(self.base, JointRule):
            return self.base.judge(observation, state).worth
        slots = self.base.score(observation["memory"], observation)
        claim = self.base.score(observation["claim"][:, None], observation)
        return np.concatenate([slots, claim], axis=1)

    def _names(
        self, observation: Observation, worth: FloatArray, legal: BoolArray, valid: BoolArray
    ) -> IntArray:
        """Name what it is to write into each slot: ``(B, S)``."""
        memory = observation["memory"]
        record = memory[..., self._layout.index("credits")]
        record = record - memory[..., self._layout.index("debits")]
        keys = {
            Name.OLDEST: -memory[..., self._layout.index("age")],
            Name.MOST_SIMILAR: -memory[..., self._layout.index("similarity")],
            Name.LEAST_CREDITED: record,
            Name.LOWEST: worth[:, :-1],
        }
        names = np.full(legal.shape, int(Name.OTHER))
        candidates = legal & valid
        rows = np.flatnonzero(candidates.any(axis=1))
        for role in ROLES:
            place = np.where(candidates, keys[role], np.inf).argmin(axis=1)
            names[rows, place[rows]] = role
        names[legal & ~valid] = Name.FREE
        return names

    def _features(
        self, observation: Observation, worth: FloatArray, names: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Give labels ``(B,)`` and coarse features ``(B, f)``, the label's parts first."""
        layout, context, claim = self._layout, observation["context"], observation["claim"]
        cues = layout.limits.cues
        cue = "cues.importance" if "importance" in cues else "confidence"
        lowest = np.where(names == Name.LOWEST, worth[:, :-1], 0.0).sum(axis=1)
        own = worth[:, -1]
        advantage = own / np.maximum(own + lowest, 1e-12)
        record = claim[:, layout.index("source_credits")] - claim[:, layout.index("source_debits")]
        passed = 1.0 - context[:, layout.index("decisions_left", "context")]
        fill = 1.0 - context[:, layout.index("free_slots", "context")]
        columns = [
            np.minimum(passed * PHASES, PHASES - 1).astype(np.int64),
            np.digitize(fill, FILL),
            context[:, layout.index("choosing", "context")].astype(np.int64),
            np.digitize(advantage, ADVANTAGE),
            np.digitize(claim[:, layout.index("redundancy")], SIMILARITY),
            np.digitize(claim[:, layout.index(cue)], CUE),
            np.digitize(record, RECORD),
            *((names == role).any(axis=1).astype(np.int64) for role in ROLES[:-1]),
            np.rint(passed * (MOMENTS - 1)).astype(np.int64),
        ]
        features = np.stack(columns, axis=1)
        return features[:, 0] * 16 + features[:, 1] * 2 + features[:, 2], features

    def _look(
        self,
        label: int,
        features: list[int],
        names: IntArray,
        writes: BoolArray,
        legal: BoolArray,
    ) -> Look:
        actions = self._actions
        clears = [int(Name.CLEAR)] * (actions.slots if actions.clears else 0)
        named = [int(Name.PASS), *names.tolist(), *clears, *[int(Name.CONSIDER)] * actions.pool]
        templates = np.where(legal, named, UNKNOWN).tolist()
        resolved = [True, *writes.tolist(), *[False] * (len(clears) + actions.pool)]
        signature = 0
        for value in features:
            signature = signature * MOMENTS + value
        elements = frozenset(MOMENTS * place + value for place, value in enumerate(features[:-1]))
        return Look(signature, label, templates, resolved, elements)

    def _shortlist(self, first: int, worth: FloatArray, writes: BoolArray) -> list[int]:
        """Put the base policy's choice first, then passing and the named slots by their gain."""
        if first > self._actions.slots:  # a clear, or the pick of a claim: there is no other
            return [first]
        gains = {0: 0.0}
        for slot in np.flatnonzero(writes).tolist():
            gains[1 + slot] = float(worth[-1] - worth[slot])
        rest = sorted(gains, key=lambda action: -gains[action])
        return [first, *(action for action in rest if action != first)]


def outcome(share: float, level: float) -> int:
    """Give the role of an episode by its settled share."""
    return SUCCESS if share >= level else FAILURE


def as_batch(observation: dict[str, NDArray[Any]]) -> Observation:
    """Make a batch of one of an observation."""
    return {name: np.asarray(array)[None] for name, array in observation.items()}
