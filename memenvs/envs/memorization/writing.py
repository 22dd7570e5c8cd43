"""The agent's side of an episode: what was read, stored and settled; nothing of truth or p_D."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.arguments import refusal
from memenvs.envs.memorization.features import Seen
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.mask import legal_actions
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.envs.memorization.settled import Records
from memenvs.envs.memorization.slots import Slots
from memenvs.material.incidence import BoolArray


class Writing:
    """A memory being written, by decisions and by what settlements tell of it."""

    def __init__(
        self, rules: Rules, actions: Actions, layout: Layout, features: Seen, decisions: int
    ) -> None:
        self.rules = rules
        self.actions = actions
        self.features = features
        self.pool = rules.access == "pool"
        self.decisions = decisions
        self.decision = 0
        self.picked: int | None = None  # claim under consideration in a pool
        self.seen = np.zeros(len(features.source), dtype=bool)  # claims considered in a pool
        self.slots = Slots(features, layout, rules.capacity)
        self.records = Records(features, layout)
        self.scheduled = rules.total(decisions)
        self.settled = 0
        self.answered = 0
        self.illegal = 0

    @property
    def considered(self) -> int | None:
        """Claim that is to be decided about; None while one is to be picked, and at the end."""
        if self.pool:
            return self.picked
        return self.decision if self.decision < self.decisions else None

    def is_over(self) -> bool:
        """Whether every decision was taken."""
        return self.decision >= self.decisions

    def mask(self) -> BoolArray:
        """Legal actions; never all False."""
        return legal_actions(self)

    def shown_mask(self) -> dict[str, NDArray[np.int8]]:
        """What an observation has of the mask: nothing where any priority is legal."""
        if self.rules.action == "priority":
            return {}
        return {"action_mask": self.mask().astype(np.int8)}

    def write(self, action: object) -> None:
        """Take one decision."""
        stop = False
        if self.rules.action == "priority":
            self._prioritise(action)
        else:
            stop = self._act(int(action))  # type: ignore[call-overload]
        self.decision = self.decisions if stop else self.decision + 1

    def hear(
        self, query: int, answered: bool, claims: Iterable[int], read: Iterable[int] = ()
    ) -> None:
        """Enter a settled query, as far as the feedback tells of it and of the claims behind it.

        ``read`` are those behind all that a limited reader read for it.
        """
        self.settled += 1
        self.answered += answered
        if self.rules.feedback != "none":
            told = self.rules.feedback == "claims"
            self.records.settle(query, answered, claims if told else (), read if told else ())

    def _act(self, action: int) -> bool:
        """Carry out a discrete action; says whether it stops the episode."""
        actions, claim = self.actions, self.considered
        if not (0 <= action < actions.n and self.mask()[action]):
            self._refuse(actions.name(action))
            action = -1
        if self.pool and claim is not None:
            self.seen[claim] = True
        self.picked = None
        if action >= actions.first_consider:
            self.picked = action - actions.first_consider
        elif actions.clears and action >= actions.first_clear:
            self.slots.clear(action - actions.first_clear)
        elif action >= actions.first_write and claim is not None:
            self.slots.put(action - actions.first_write, claim, self.decision)
        return self.pool and claim is None and action == actions.PASS

    def _refuse(self, name: str) -> None:
        if self.rules.strict:
            raise ValueError(refusal(name))
        self.illegal += 1

    def _prioritise(self, action: object) -> None:
        """Keep the claims of highest priority: ties go to those that were there before."""
        value = float(np.asarray(action, dtype=np.float64).reshape(-1)[0])
        if not math.isfinite(value):
            self._refuse(f"the priority {value}")
            return
        priority, slots = min(max(value, -1.0), 1.0), self.slots
        claim = self.considered
        if claim is None:
            return
        free = np.flatnonzero(~slots.occupied)
        lower = [int(s) for s in np.flatnonzero(slots.occupied) if slots.priority[s] < priority]
        lower.sort(key=lambda slot: (slots.priority[slot], slots.written[slot]))
        leaving: list[int] = []
        freed = 0.0
        while not (len(free) + len(leaving) > 0 and self.fits(claim, freed)):
            if len(leaving) == len(lower):
                return  # what would have to go is worth more
            leaving.append(lower[len(leaving)])
            freed += float(self.features.cost[slots.claims[leaving[-1]]])
        for slot in leaving:
            slots.clear(slot)
        place = leaving[0] if leaving else int(free[0])
        slots.put(place, claim, self.decision, priority)

    def fits(self, claim: int, freed: float = 0.0) -> bool:
        """Say whether a claim fits into the budget, once some of its cost was freed."""
        return bool(self.slots.cost + self.features.cost[claim] - freed <= self.rules.allowance)
