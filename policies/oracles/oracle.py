"""Oracles: they read the material, plan with the frontier, and act as everybody else must."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.incidence import BoolArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.policies.base import Observation, Policy, State, privileged

KEPT = 1024  # plans that stay known
TIME_LIMIT = 60.0  # seconds for a plan; where optimality is not proved by then, the best found


Plan = Callable[[Material, Rules, Objective], tuple[str, ...]]  # claims of the best memory


class Oracle(Policy):
    """Write the claims of a planned memory as they are considered, and no others.

    The plan is a best memory by the environment's objective; at level 0 for the asked query.
    Privileged: it knows truth, queries and p_D.
    """

    privileged: ClassVar[bool] = True
    method: ClassVar[Literal["exact", "greedy"]]
    known: Plan | None = None  # where best memories are known already

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        self._env = env
        # By the number of a material, and the query that alone is asked.
        self._plans: OrderedDict[tuple[int, int | None], BoolArray] = OrderedDict()

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Keep the planned claims, in each episode of the environment."""
        views = privileged(self._env)
        chosen = [self._choose(view, mask) for view, mask in zip(views, masks, strict=True)]
        if self.rules.action == "priority":
            return np.array(chosen, dtype=np.float32)[:, None], state
        return np.array(chosen), state

    def plan(self, view: Privileged) -> BoolArray:
        """Give the planned memory of an episode: ``(n_claims,)``."""
        key = view.number, view.query
        known = self._plans.get(key)
        if known is None:
            objective = Objective.of(self.rules).asking(view.query)
            known = self._plans[key] = self._solve(view.load(), objective)
            if len(self._plans) > KEPT:
                self._plans.popitem(last=False)
        return known

    def _solve(self, material: Material, objective: Objective) -> BoolArray:
        if self.known is not None:
            return material.mask(self.known(material, self.rules, objective))
        slots, budget = self.rules.capacity, self.rules.budget
        result = objective.frontier(
            material,
            [slots if budget is None else budget],
            self.method,
            costs=np.ones(len(material.claims)) if budget is None else None,
            max_claims=slots,
            time_limit=TIME_LIMIT,
        )
        return material.mask(result.memories[0])

    def _choose(self, view: Privileged, mask: NDArray[np.bool_]) -> float:
        plan, actions, claim = self.plan(view), self.actions, view.considered
        wanted = claim is not None and bool(plan[claim])
        if self.rules.action == "priority":
            return 1.0 if wanted else -1.0
        if claim is None:
            planned = np.flatnonzero(plan)
            missing = planned[~np.isin(planned, view.slots)]
            return actions.first_consider + int(missing[0]) if len(missing) else actions.PASS
        if wanted:
            for slot in np.flatnonzero(mask[1 : 1 + actions.slots]).tolist():
                if view.slots[slot] == EMPTY or not plan[view.slots[slot]]:
                    return 1 + int(slot)
        return actions.PASS


class Optimal(Oracle):
    """Keep an optimal memory (eq. 13, and its analogues under other objectives)."""

    method = "exact"


class Greedy(Oracle):
    """Keep the memory of the greedy oracle, within 1 - 1/e of the best where decomposable."""

    method = "greedy"
