"""The clairvoyant streaming greedy: it knows truth and p_D, and no later claim."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.policies.base import Observation, Policy, State, privileged
from memenvs.policies.rules.rule import as_priority

ROUNDING = 1e-12  # of a sum of masses


class Clairvoyant(Policy):
    """Take each claim's best replacement by the exact difference in the utility that is paid.

    A claim without a gain is passed over; a true one fills a free slot, as it may complete a
    support later. The claims of a pool are considered as they stand. Privileged.
    """

    privileged: ClassVar[bool] = True

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        self._env = env
        self._exact: dict[tuple[int, int | None], ExactUtility] = {}  # of the running episodes

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Decide in each episode by itself."""
        views = privileged(self._env)
        known, self._exact = self._exact, {}
        chosen = np.zeros(len(views))
        for place, view in enumerate(views):
            key = view.number, view.query
            if key not in self._exact:
                objective = Objective.of(self.rules).asking(view.query)
                self._exact[key] = known.get(key) or ExactUtility(view.load(), objective)
            if view.considered is None:
                chosen[place] = self._consider(masks[place], observation, place)
            else:
                chosen[place] = self._choose(view, masks[place], self._exact[key])
        if self.rules.action == "priority":
            return as_priority(chosen), state
        return chosen.astype(np.int64), state

    def _consider(self, mask: BoolArray, observation: Observation, place: int) -> int:
        if not self.layout.pool:
            return self.actions.PASS  # the episode is over
        considered = observation["claims"][place, :, self.layout.index("considered")] == 1
        legal = np.flatnonzero(mask[self.actions.first_consider :] & ~considered)
        return self.actions.first_consider + int(legal[0]) if len(legal) else self.actions.PASS

    def _choose(self, view: Privileged, mask: BoolArray, utility: ExactUtility) -> float:
        claim, slots = view.considered, view.slots
        assert claim is not None
        if self.rules.action == "priority":
            now, _ = utility.replacements(slots[slots != EMPTY], claim)
            grown, _ = utility.replacements(np.append(slots[slots != EMPTY], claim), claim)
            return grown - now
        if self.rules.utility == "precision" and not utility.possible[claim]:
            return self.actions.PASS  # nothing to gain
        now, after = utility.replacements(slots, claim)
        legal = mask[1 : 1 + self.actions.slots]
        if not legal.any():
            return self.actions.PASS
        after = np.where(legal, after, -np.inf)
        best = int(after.argmax())
        gain = after[best] - now
        fills = slots[best] == EMPTY and utility.true[claim]
        if gain > ROUNDING or (fills and gain >= -ROUNDING):
            return 1 + best
        return self.actions.PASS


class ExactUtility:
    """Exact utilities of memories that differ by one replacement, by an objective."""

    def __init__(self, material: Material, objective: Objective) -> None:
        self._material = material
        self._objective = objective
        self._weights = objective.weights(material)
        incidence = material.incidence
        self.true: BoolArray = incidence.truth == 1.0  # (E,)
        self.possible: BoolArray = incidence.truth > 0.0  # (E,)
        single = incidence.decomposable and incidence.monotone and incidence.certain
        # Queries that each claim answers by itself, where claims work by themselves alone.
        self._answers: NDArray[np.int8] | None = None  # (E, Q)
        if single and not objective.limited and objective.utility != "end-to-end":
            self._answers = self._single_answers()

    def replacements(self, slots: IntArray, claim: int) -> tuple[float, FloatArray]:
        """Give the utility of the stored claims, and of them with ``claim`` in each slot: ``(S,)``.

        ``slots`` ``(S,)`` are claims, or EMPTY.
        """
        if self._answers is None:
            return self._evaluated(slots, claim)
        probability = self._weights
        occupied = slots != EMPTY
        held = self._answers[np.where(occupied, slots, 0)]
        count = held[occupied].sum(axis=0, dtype=np.int16)
        ways = count + self._answers[claim]
        single = ways == 1
        lost = (held[:, single] @ probability[single]) * occupied
        return float(probability @ (count > 0)), np.asarray(probability @ (ways > 0) - lost)

    def _evaluated(self, slots: IntArray, claim: int) -> tuple[float, FloatArray]:
        memories = np.zeros((len(slots) + 1, len(self.true)), dtype=bool)
        memories[:, slots[slots != EMPTY]] = True
        for place, stored in enumerate(slots.tolist()):
            if stored != EMPTY:
                memories[place, stored] = False
        memories[:-1, claim] = True
        values = np.asarray(self._objective.expected(self._material, memories))
        return float(values[-1]), values[:-1]

    def _single_answers(self) -> NDArray[np.int8]:
        incidence = self._material.incidence
        answers = np.zeros((len(self.true), len(self._weights)), dtype=np.int8)
        for item in range(len(incidence.answers)):
            for support in incidence.item_supports[item].tolist():
                claim = int(incidence.supports[support][0])
                if self._objective.utility == "coverage" or self.true[claim]:
                    answers[claim, incidence.answers[item]] = 1
        return answers
