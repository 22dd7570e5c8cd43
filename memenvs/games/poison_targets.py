"""What is put into the stream: false claims, and what they do by the query that is attacked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.reading.utility import DECIMALS, ranked_answers
from memenvs.text.encoders import embeddings

# How confident to sound: like a claim of this third of the material's.
LEVELS = ("lower", "middle", "upper")


@dataclass(frozen=True)
class Injections:
    """False claims that are put into n episodes, one in each: arrays ``(n,)``."""

    episodes: IntArray
    query: IntArray  # that is attacked
    source: IntArray  # that is imitated, by its number from 1
    level: IntArray  # of LEVELS
    place: IntArray  # how many were put there before
    current: IntArray  # claim after which it is read
    following: IntArray  # real claim that comes next; the one that is never stored, if none does
    read: BoolArray  # (n, L) claims that were read, the current one among them
    keys: NDArray[np.uint64]  # of the episodes


@dataclass(frozen=True)
class Targets:
    """What a false claim does to one material, by the query that is attacked."""

    template: IntArray  # (Q,) claim whose wording it takes
    answers: tuple[IntArray, ...]  # Q rows: queries that it answers
    closeness: FloatArray  # (Q + 1, R) similarity of each way's item to its query

    @classmethod
    def of(cls, material: Material, ways: int) -> Targets:
        """Take for each query the true claim that answers it alone and most besides.

        Where none does it is the claim most similar to the query.
        """
        incidence = material.incidence
        claims, items, queries = embeddings(material)
        alone: list[set[int]] = [set() for _ in material.claims]
        for item, answered in enumerate(incidence.answers[n] for n in range(len(material.items))):
            for support in incidence.item_supports[item].tolist():
                if len(incidence.supports[support]) == 1:
                    alone[int(incidence.supports[support][0])].update(answered.tolist())
        mass = np.array([incidence.probability[list(each)].sum() for each in alone])
        template = (queries @ claims.T).argmax(axis=1)
        for query in range(len(material.queries)):
            able = [c for c, each in enumerate(alone) if query in each and incidence.truth[c] == 1]
            if able:
                template[query] = max(able, key=lambda claim: (mass[claim], -claim))
        answers = tuple(
            np.array(sorted(alone[int(claim)] | {query})) for query, claim in enumerate(template)
        )
        closeness = np.full((len(material.queries) + 1, ways), -np.inf)
        for query, ranked in enumerate(_ranked(material)):
            near = np.round(items[ranked] @ queries[query], DECIMALS)
            closeness[query, : len(ranked)] = near
        return cls(template, answers, closeness)


def voices(
    values: NDArray[np.float32], real: BoolArray, level: IntArray, chance: FloatArray
) -> IntArray:
    """Pick whom false claims sound like: ``(n,)`` real claims, drawn from a level's third.

    ``values`` ``(n, L, c)`` are what claims say of themselves; they are ordered by their mean rank
    among the ``real`` ones ``(n, L)``. ``chance`` ``(n,)`` is uniform in [0, 1).
    """
    said = np.where(real[..., None], values, np.inf)
    ranks = said.argsort(axis=1, kind="stable").argsort(axis=1).mean(axis=2)
    order = np.where(real, ranks, np.inf).argsort(axis=1, kind="stable")
    place = ((level + chance) / len(LEVELS) * real.sum(axis=1)).astype(np.int64)
    return np.asarray(np.take_along_axis(order, place[:, None], axis=1)[:, 0])


def _ranked(material: Material) -> list[IntArray]:
    """Give the item of each way to answer each query, in the order of ``Prepared.routes``."""
    incidence = material.incidence
    ranked = ranked_answers(material)
    return [
        np.array(
            [item for item in ranked[q].tolist() for _ in incidence.item_supports[item]], dtype=int
        )
        for q in range(len(material.queries))
    ]
