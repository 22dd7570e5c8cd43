"""One episode of the memorization process: what is written is settled against a material."""

from __future__ import annotations

import numpy as np

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.prepared import Prepared
from memenvs.envs.memorization.reward import Account, Settled
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.envs.memorization.writing import Writing
from memenvs.material.incidence import BoolArray
from memenvs.objective import Objective


class Episode(Writing):
    """A material being read, and the memory being written."""

    def __init__(
        self, rules: Rules, actions: Actions, layout: Layout, prepared: Prepared, key: np.uint64
    ) -> None:
        decisions = rules.length(len(prepared.material.claims))
        super().__init__(rules, actions, layout, prepared.features, decisions)
        self.prepared = prepared
        self.account = Account(prepared, Objective.of(rules), key)
        self.known_query: int | None = None
        self.earned = 0.0
        self.log: list[Settled] = []  # every settled query, in order
        self.fresh = 0  # how many of them the last decision brought
        self._disclose()

    def decide(self, action: object) -> float:
        """Take one decision, then settle what is due; gives the utility that was settled."""
        self.write(action)
        return self._settle(self.rules.due(self.decision, self.decisions))

    def _disclose(self) -> None:
        """Show the queries that are known before the first write."""
        if self.rules.disclosure == "one":
            self.known_query = self.account.draw(1)[0]
            self.account.objective = self.account.objective.asking(self.known_query)
            self.records.disclose({self.known_query: 1.0})
        elif self.rules.disclosure == "all":
            probability = self.prepared.material.incidence.probability
            self.records.disclose(dict(enumerate(probability.tolist())))

    def _settle(self, count: int) -> float:
        self.fresh = count
        if not count:
            return 0.0
        rules = self.rules
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
            self.hear(query, settled.answered, settled.claims, settled.read)
        earned = float(right)
        if rules.settlement == "expected" and self.known_query is None:
            earned = count * self.account.expected(self.memory)
        self.earned += earned
        return earned

    @property
    def memory(self) -> BoolArray:
        """Stored claims: ``(E,)``."""
        stored = np.zeros(len(self.prepared.material.claims), dtype=bool)
        stored[self.slots.claims[self.slots.occupied]] = True
        return stored
