"""One episode of the memorization process: decisions, writes and settlements by its rules."""

from __future__ import annotations

import math

import numpy as np

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.prepared import Prepared
from memenvs.envs.memorization.records import Records
from memenvs.envs.memorization.rules import Actions, Rules, refusal
from memenvs.envs.memorization.settlement import Account, Settled
from memenvs.envs.memorization.slots import Slots
from memenvs.incidence import BoolArray


class Episode:
    """A material being read, and the memory being written."""

    def __init__(
        self, rules: Rules, actions: Actions, layout: Layout, prepared: Prepared, key: np.uint64
    ) -> None:
        self.rules = rules
        self.actions = actions
        self.prepared = prepared
        claims = len(prepared.material.claims)
        self.pool = rules.access == "pool"
        self.decisions = (rules.decisions or 2 * claims) if self.pool else claims
        self.decision = 0
        self.picked: int | None = None  # claim under consideration in a pool
        self.seen = np.zeros(claims, dtype=bool)  # claims that were considered before
        self.cost = prepared.material.incidence.cost
        self.slots = Slots(prepared.features, self.cost, layout, rules.capacity)
        self.account = Account(prepared, rules.utility, key)
        self.records = Records(prepared.features, layout)
        self.known_query: int | None = None
        self.scheduled = rules.total(self.decisions)
        self.settled = 0
        self.answered = 0
        self.earned = 0.0
        self.illegal = 0
        self.log: list[Settled] = []  # every settled query, in order
        self.fresh = 0  # how many of them the last decision brought
        self._disclose()

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
        rules, actions, slots = self.rules, self.actions, self.slots
        if rules.action == "priority":
            return np.ones(1, dtype=bool)
        mask = np.zeros(actions.n, dtype=bool)
        mask[actions.PASS] = True
        if self.is_over():
            return mask
        claim = self.considered
        if claim is not None:
            mask[1 : 1 + rules.capacity] = self._writable(claim)
        if actions.clears and (claim is None or not self.pool):
            mask[actions.first_clear : actions.first_clear + rules.capacity] = slots.occupied
        if claim is None:
            free = np.ones(len(self.seen), dtype=bool)
            free[slots.claims[slots.occupied]] = False
            mask[actions.first_consider : actions.first_consider + len(free)] = free
        return mask

    def decide(self, action: object) -> float:
        """Take one decision, then settle what is due; gives the utility that was settled."""
        stop = False
        if self.rules.action == "priority":
            self._prioritise(action)
        else:
            stop = self._act(int(action))  # type: ignore[call-overload]
        self.decision = self.decisions if stop else self.decision + 1
        return self._settle(self.rules.due(self.decision, self.decisions))

    def _act(self, action: int) -> bool:
        """Carry out a discrete action; says whether it stops the episode."""
        actions, claim = self.actions, self.considered
        if not (0 <= action < actions.n and self.mask()[action]):
            self._refuse(actions.name(action))
            action = -1
        if claim is not None:
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
        claim = self.decision
        free = np.flatnonzero(~slots.occupied)
        lower = [int(s) for s in np.flatnonzero(slots.occupied) if slots.priority[s] < priority]
        lower.sort(key=lambda slot: (slots.priority[slot], slots.written[slot]))
        leaving: list[int] = []
        freed = 0.0
        while not (len(free) + len(leaving) > 0 and self._fits(claim, freed)):
            if len(leaving) == len(lower):
                return  # what would have to go is worth more
            leaving.append(lower[len(leaving)])
            freed += float(self.cost[slots.claims[leaving[-1]]])
        for slot in leaving:
            slots.clear(slot)
        place = leaving[0] if leaving else int(free[0])
        slots.put(place, claim, self.decision, priority)

    def _writable(self, claim: int) -> BoolArray:
        """Slots that a claim may be written into: the first free one, or else any it fits."""
        slots = self.slots
        legal = np.zeros(self.rules.capacity, dtype=bool)
        free = np.flatnonzero(~slots.occupied)
        if len(free) and self._fits(claim):
            legal[free[0]] = True
        elif self.rules.budget is None:
            legal[:] = True
        else:
            after = slots.cost + self.cost[claim] - self.cost[slots.claims]
            legal[:] = slots.occupied & (after <= self.rules.allowance)
        return legal

    def _fits(self, claim: int, freed: float = 0.0) -> bool:
        return bool(self.slots.cost + self.cost[claim] - freed <= self.rules.allowance)

    def _disclose(self) -> None:
        """Show the queries that are known before the first write."""
        if self.rules.disclosure == "one":
            self.known_query = self.account.draw(1)[0]
            self.records.disclose({self.known_query: 1.0})
        elif self.rules.disclosure == "all":
            probability = self.prepared.material.incidence.probability
            self.records.disclose(dict(enumerate(probability.tolist())))

    def _settle(self, count: int) -> float:
        self.fresh = count
        if not count:
            return 0.0
        rules, records = self.rules, self.records
        if self.known_query is None:
            queries = self.account.draw(count)
        else:
            queries = [self.known_query] * count
        stored = self.slots.stored
        right = 0
        for query in queries:
            settled = self.account.settle(query, stored)
            self.log.append(settled)
            right += settled.answered
            if rules.feedback != "none":
                records.settle(settled, claims=rules.feedback == "claims")
        self.settled += count
        self.answered += right
        earned = float(right)
        if rules.settlement == "expected" and self.known_query is None:
            earned = count * self.account.expected(self.memory)
        self.earned += earned
        return earned

    @property
    def memory(self) -> BoolArray:
        """Stored claims: ``(E,)``."""
        stored = np.zeros(len(self.seen), dtype=bool)
        stored[self.slots.claims[self.slots.occupied]] = True
        return stored
