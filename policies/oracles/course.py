"""The oracle that is paid most while a stream is read: it follows the best course of writes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.incidence import IntArray
from memenvs.objective import Objective
from memenvs.optimal.arrival import course_of
from memenvs.policies.oracles.oracle import KEPT, TIME_LIMIT, Optimal


class OptimalCourse(Optimal):
    """Hold at each settlement what the best course does, of all that one run of writes can hold.

    Its avoidable regret is 0: ``optimal`` is best at the end, and the clairvoyant looks no claim
    ahead. Where no course is known (in a pool, under a limited reader, in a stream of thousands
    of claims) it is ``optimal``. Privileged: it knows truth, queries, p_D and what arrives when.
    """

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        # Settlements that each claim is held for; by the number of a material and what is asked.
        self._courses: OrderedDict[tuple[int, int | None], IntArray | None] = OrderedDict()

    def _course(self, view: Privileged) -> IntArray | None:
        key = view.number, view.query
        if key not in self._courses:
            objective = Objective.of(self.rules).asking(view.query)
            found = course_of(view.load(), objective, self.rules, TIME_LIMIT)
            self._courses[key] = None if found is None else found.until
            if len(self._courses) > KEPT:
                self._courses.popitem(last=False)
        return self._courses[key]

    def _choose(self, view: Privileged, mask: NDArray[np.bool_]) -> float:
        until = self._course(view)
        if until is None:
            return super()._choose(view, mask)
        claim = view.considered
        wanted = claim is not None and until[claim] > 0
        if self.rules.action == "priority":  # what goes first is kept least
            return float(until[claim]) / len(until) if wanted else -1.0
        legal = np.flatnonzero(mask[1 : 1 + self.actions.slots])
        if not wanted or not len(legal):
            return self.actions.PASS
        kept = np.where(view.slots == EMPTY, -1, until[view.slots])
        return 1 + int(legal[kept[legal].argmin()])
