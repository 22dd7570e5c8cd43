"""`bayes` for a memory that is read only in part: it weighs what outranks what, for every query."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies.base import Observation
from memenvs.policies.beliefs.bayes import ASKED_BEFORE, Bayes, losses
from memenvs.policies.beliefs.rates import look_up
from memenvs.policies.expected_reading import items_read, reading_losses
from memenvs.policies.rules.joint import Candidates
from memenvs.policies.training_materials import tier_of

SAME = 0.999  # similarity from which on two queries are one
DRAWN = 24  # training materials whose queries stand for those still to come


class BayesReader(Bayes):
    """Keep what is worth most by `bayes` through a reader of the K most similar items.

    The value of a memory is the chance that what is read of it pays, over the queries that were
    settled and those still to come: for these stand, where the tier has one world, queries of
    training materials, else the value that `bayes` gives to topics. What is read is seen by the
    similarities; that a read claim was credited or debited, or neither, says whether it answers the
    query. Where queries are known beforehand it is `bayes`. Raises ``ValueError`` for a reader that
    does not go by similarity.
    """

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        self._k = items_read(self.rules, self.layout)
        tier = tier_of(env)
        known = tier is not None and self.rates.centres is not None
        self._typical = _typical(tier.name) if tier is not None and known else None

    def _hits(
        self,
        observation: Observation,
        candidates: Candidates,
        answered: FloatArray,
        asked: NDArray[np.float32],
        count: IntArray,
        told: FloatArray,
    ) -> FloatArray:
        """Enter what is newly disclosed; of a query settled alone it is known who answers it."""
        before = count.copy()
        hits = super()._hits(observation, candidates, answered, asked, count, told)
        for episode in np.flatnonzero(count > before).tolist():
            own, queries = answered[episode, :-1], asked[episode]
            for place in range(before[episode], count[episode]):
                same = np.flatnonzero(queries[:place] @ queries[place] > SAME)
                if len(same):
                    earlier = own[:, same[-1]]
                    own[:, place] = np.where(_is_known(earlier), earlier, own[:, place])
            if count[episode] != before[episode] + 1 or self.rules.feedback != "claims":
                continue
            place = before[episode]
            same = np.flatnonzero(queries[: place + 1] @ queries[place] > SAME)
            for slot, answers in self._read(candidates, episode, queries[place], told[episode]):
                own[slot, same] = answers
        return hits

    def _read(
        self, candidates: Candidates, episode: int, query: NDArray[np.float32], told: FloatArray
    ) -> list[tuple[int, float]]:
        """List the slots whose claims were read of a query, and whether they answer it."""
        slots = np.flatnonzero(candidates.valid[episode, :-1])
        similarity = candidates.embedding[episode, slots] @ query
        best = slots[np.argsort(-similarity, kind="stable")[: self._k]].tolist()
        found = []
        for slot in best:
            found.append((slot, float(told[slot] > 0)))
            if told[slot] > 0 and self.rules.utility == "end-to-end":
                break  # of what ranks below the named one nothing is said
        return found

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
        """What the reader loses without each candidate: ``(B, S + 1)``."""
        if not self._kept:
            return super()._worth(candidates, true, asks, answered, asked, count, left)
        vectors, size = candidates.embedding, self._size(candidates.rows)
        last = int(count.max(initial=0))
        queries = asked[:, :last].astype(np.float64)
        each = np.minimum(answered[..., :last] * size[..., None], 1.0)
        each = np.where(answered[..., :last] >= 1.0, 1.0, each)
        weight = self._until(count)[:, :last]
        if self._typical is not None:
            typical = np.broadcast_to(self._typical, (len(true), *self._typical.shape))
            chance = look_up(self.rates.answering, vectors @ typical.swapaxes(1, 2))
            each = np.append(each, np.minimum(chance * size[..., None], 1.0), axis=2)
            queries = np.append(queries, typical, axis=1)
            share = np.full(typical.shape[:2], ASKED_BEFORE / typical.shape[1])
            weight = np.append(weight, share, axis=1)
        total = count[:, None] + ASKED_BEFORE
        lost = reading_losses(
            vectors @ queries.swapaxes(1, 2),
            each,
            true,
            weight / total,
            candidates.valid,
            utility=self.rules.utility,
            k=self._k,
        )
        if self._typical is None:
            before = size * ASKED_BEFORE * self.rates.topic_mass(vectors) / total
            lost = lost + losses(candidates, true, before, self.rates)
        return lost


def _is_known(answers: FloatArray) -> NDArray[np.bool_]:
    """Whether it is certain that claims answer, or that they do not."""
    return np.asarray((answers <= 0.0) | (answers >= 1.0))


@lru_cache(maxsize=8)
def _typical(name: str) -> NDArray[np.float64]:
    """Draw queries of training materials of a tier as they are asked: ``(n, d)`` unit rows."""
    generator = np.random.default_rng(0)
    found = []
    for number in range(DRAWN):
        contents = TIERS[name].draft("train", number).contents
        drawn = generator.choice(len(contents.weight), size=len(contents.weight), p=contents.weight)
        vectors = contents.query_vector[drawn]
        found.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return np.concatenate(found)
