"""Values of a memory and of everything that one more claim makes of it, under a limited reader."""

from __future__ import annotations

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.reading.readers import split_name
from memenvs.reading.utility import item_ranks

SIMILARITY = "similarity"
FAR = np.iinfo(np.int32).max  # rank of what is not stored


class Neighbours:
    """Evaluates M and M + e for each useful claim e; in array operations where a claim is an item.

    That holds where every claim yields one item of its own, none withdraws any, truth is certain
    and the ranking is fixed; else each memory is evaluated by itself.
    """

    def __init__(self, material: Material, objective: Objective, useful: IntArray) -> None:
        self.material, self.objective, self.useful = material, objective, useful
        self._ranks: IntArray | None = None
        incidence = material.incidence
        kind, k = split_name(objective.reader)
        claims = incidence.supports.values
        whole = incidence.decomposable and incidence.monotone and incidence.certain
        single = len(np.unique(claims)) == len(claims) == len(material.items)
        if not (kind == SIMILARITY and k and whole and single):
            return
        self._k = k
        item_of = np.full(len(incidence.truth), -1)
        item_of[claims] = np.arange(len(claims))
        items = item_of[useful]
        self._place = np.full(len(incidence.truth), -1)
        self._place[useful] = np.arange(len(useful))
        self._ranks = item_ranks(material)[:, items].astype(np.int64)  # (Q, U)
        self._answers = np.zeros((len(material.queries), len(useful)), dtype=bool)
        for column, item in enumerate(items.tolist()):
            self._answers[incidence.answers[item], column] = True
        good = incidence.truth[useful] == 1.0
        self._good = good if objective.utility != "coverage" else np.ones_like(good)
        self._weights = objective.weights(material)

    def values(self, memory: BoolArray) -> tuple[float, FloatArray]:
        """Give u(M), and u(M + e) for each useful claim: ``(U,)``."""
        if self._ranks is None:
            grown = np.repeat(memory[None], len(self.useful) + 1, axis=0)
            grown[np.arange(len(self.useful)), self.useful] = True
            values = np.asarray(self.objective.expected(self.material, grown))
            return float(values[-1]), values[:-1]
        stored = self._place[np.flatnonzero(memory)]
        paid, grown = self._read(stored, self._ranks)
        return float(self._weights @ paid), np.asarray(self._weights @ grown)

    def _read(self, stored: IntArray, ranks: IntArray) -> tuple[BoolArray, BoolArray]:
        """Whether each query is paid now ``(Q,)``, and with each claim besides ``(Q, U)``."""
        held = ranks[:, stored]
        last = np.full(len(ranks), FAR, dtype=np.int64)  # rank of the K-th: it would drop out
        if len(stored) >= self._k:
            last = np.partition(held, self._k - 1, axis=1)[:, self._k - 1]
        answers = self._answers[:, stored] & (held <= last[:, None])
        right = answers & self._good[stored]
        enters = ranks < last[:, None]
        pays = self._answers & self._good
        if self.objective.utility != "end-to-end":
            paid = right.any(axis=1)
            stays = (right & (held < last[:, None])).any(axis=1)
            return paid, np.where(enters, pays | stays[:, None], paid[:, None])
        first = np.where(answers, held, FAR).min(axis=1, initial=FAR)  # the one that is named
        paid = (right & (held == first[:, None])).any(axis=1)
        dropped = (first == last) & (first < FAR)
        named = self._answers & (ranks < first[:, None])
        after = np.where(named, pays, (paid & ~dropped)[:, None])
        after = np.where((self._answers & dropped[:, None]), pays, after)
        return paid, np.where(enters, after, paid[:, None])
