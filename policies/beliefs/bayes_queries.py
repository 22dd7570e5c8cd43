"""`bayes` with values by query, and with a price on what a settlement would tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.beliefs.bayes import ASKED_BEFORE, MOST_OVERLAP, Bayes, losses
from memenvs.policies.beliefs.rates import look_up
from memenvs.policies.rules.joint import Candidates
from memenvs.policies.training_materials import tier_of
from memenvs.reading.answers import ALL

# What information is worth, chosen on validation materials among 0, 1, 2 and 4; elsewhere nothing.
PRICES = {"probe": 2.0}


class BayesQueries(Bayes):
    """Keep what is worth most by `bayes`, which also counts the settled queries each claim answers.

    A stored claim that answers a settled query is credited or debited, so one that is neither does
    not answer it, and a claim that is much like a stored one answers what that one does. The value
    of a memory is that of the queries asked, each answered or not, and of those still to come.
    Where information has a price (``probe``), a claim is worth
    ``price · decisions left (a share) · p (1 − p) · v`` more, as settling it tells of its source.

    Args:
        env, seed: as for ``Bayes``.
        price: of information; None: as chosen for the tier.
    """

    def __init__(self, env: Any, seed: int = 0, *, price: float | None = None) -> None:
        super().__init__(env, seed)
        tier = tier_of(env)
        self.price = price if price is not None else PRICES.get(tier.name if tier else "", 0.0)
        # End-to-end and limited readers credit what is named or read: nothing is known of the rest.
        self._disclosed = self.rules.feedback == "claims" and self.rules.reader == ALL
        self._disclosed &= self.rules.utility != "end-to-end"

    def _answers(self, chance: FloatArray, told: FloatArray) -> FloatArray:
        """P(each stored claim answers) what was newly settled ``(B, S, H)``, as records say it."""
        if not self._disclosed:
            return chance
        scale = told / np.maximum(chance.sum(axis=-1), 1e-9)
        return np.asarray(np.minimum(chance * scale[..., None], 1.0))

    def _of_arriving(
        self, candidates: Candidates, answered: FloatArray, asked: NDArray[np.float32]
    ) -> FloatArray:
        """P(the considered claim answers) each query asked ``(B, T)``, by the stored one next it.

        Two claims answer the same as far as their overlap goes, in both directions.
        """
        chance = super()._of_arriving(candidates, answered, asked)
        if not self._disclosed:
            return chance
        vectors = candidates.embedding
        overlap = look_up(
            self.rates.overlap, (vectors[:, :-1] @ vectors[:, -1:].swapaxes(1, 2))[..., 0]
        )
        overlap = np.where(candidates.valid[:, :-1], overlap, 0.0)
        episode, nearest = np.arange(len(overlap)), overlap.argmax(axis=1)
        same = (overlap[episode, nearest] ** 2)[:, None]
        return np.asarray(same * answered[episode, nearest] + (1.0 - same) * chance)

    def _worth(
        self,
        candidates: Candidates,
        true: FloatArray,
        asks: FloatArray,
        answered: FloatArray,
        asked: NDArray[np.float32],
        count: IntArray,
        left: FloatArray,
    ) -> FloatArray:
        """Value lost without each candidate, with what its settlement tells: ``(B, S + 1)``."""
        told = self.price * left[:, None] * true * (1.0 - true) * asks
        if not self._kept:
            return super()._worth(candidates, true, asks, answered, asked, count, left) + told
        total = count[:, None] + ASKED_BEFORE
        size = self._size(candidates.rows)
        before = size * ASKED_BEFORE * self.rates.topic_mass(candidates.embedding) / total
        sure = answered >= 1.0
        each = np.where(sure, 1.0, np.minimum(answered * size[..., None], 1.0))
        share = np.minimum(each * true[..., None], MOST_OVERLAP)
        unanswered = (1.0 - share).prod(axis=1, keepdims=True)
        asked = (share * unanswered / (1.0 - share)).sum(axis=-1) / total
        return np.asarray(losses(candidates, true, before, self.rates) + asked + told)
