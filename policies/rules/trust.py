"""The strongest hand-written rule: believe sources by their record, and doubt those that boast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import FloatArray, IntArray
from memenvs.policies.base import Observation, State
from memenvs.policies.rules.joint import Candidates, JointRule, Judgement, scheduled
from memenvs.policies.rules.trust_constants import DEFAULT, TABLE, TrustConstants
from memenvs.policies.training_materials import tier_of

LEAST, MOST = 0.02, 0.9  # importance that is taken at its word
WIDTH = 1.0  # standard deviation of a claim's style around its source's
DUPLICATE = 0.01  # share of its worth that a claim keeps beside a better one that says the same
# Columns of what is known of a source.
CLAIMS, IMPORTANCE, STYLE, CREDITS, DEBITS = range(5)  # the second and third are sums


class Trust(JointRule):
    """Keep the claims of highest trust^p · count · importance · exp(−a · boast), deduplicated.

    Trust is the Beta mean of the settled record of the claim's source and of the sources of like
    style, corrected by the claim's own record; count is how often the claim's topic was asked;
    boast is the mean importance of the claims of its source. A claim nearly equal to a better one
    is worth next to nothing. Where the materials have no importance or style, it counts as 1 or
    equal for all. ``constants`` are by default those tuned for the tier; the state is the sources'
    record ``(B, E, 5)``.
    """

    def __init__(self, env: Any, seed: int = 0, *, constants: TrustConstants | None = None) -> None:
        super().__init__(env, seed)
        tier = tier_of(env)
        self.constants = constants or TABLE.get(tier.name if tier else "", DEFAULT)
        cues = self.layout.limits.cues
        self._importance = "importance" in cues
        self._style = "style" in cues

    def start(self, episodes: IntArray) -> State:
        """Know nothing of any source."""
        return (np.zeros((len(episodes), self.layout.limits.claims, 5)),)

    def judge(self, observation: Observation, state: State) -> Judgement:
        """Score every claim, then let the better of two equal ones stand."""
        candidates = Candidates(self, observation)
        book = self._listen(observation, candidates, state[0])
        trust, boast = self._sources(book)
        settled = self._settled(observation)
        score = self._score(candidates.rows, trust, boast, settled)
        fresh = self._fresh(candidates, score)
        worth = np.where(candidates.valid, score * fresh, -1.0)
        order = None
        if self.layout.pool:
            order = self._score(observation["claims"], trust, boast, settled)
        return Judgement(worth, order, (book,))

    def _listen(
        self, observation: Observation, candidates: Candidates, book: FloatArray
    ) -> FloatArray:
        """Enter the claim that arrives, or all of a pool, and the sources' settled records."""
        book = book.copy()
        rows = observation["claim"][:, None]
        if self.layout.pool:
            rows = observation["claims"]
            book[..., [CLAIMS, IMPORTANCE, STYLE]] = 0.0
        source = np.where(self._column(rows, "valid") == 1, self._column(rows, "source"), -1)
        episode, place = np.nonzero(source >= 0)
        heard = episode, source[episode, place].astype(np.int64)
        np.add.at(book[..., CLAIMS], heard, 1.0)
        np.add.at(book[..., IMPORTANCE], heard, self._cue(rows, "importance")[episode, place])
        np.add.at(book[..., STYLE], heard, self._cue(rows, "style")[episode, place])
        episode, place = np.nonzero(candidates.source >= 0)
        known = episode, candidates.source[episode, place]
        for column, name in ((CREDITS, "source_credits"), (DEBITS, "source_debits")):
            book[..., column][known] = candidates.column(name)[episode, place]
        return book

    def _sources(self, book: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Trust and mean importance of every source: ``(B, s)`` each.

        Of a source that others heard alone only the record is known; its importance is NaN.
        """
        known = np.flatnonzero(book.any(axis=(0, 2)))
        book = book[:, : known.max(initial=0) + 1]  # sources are numbered as they appear
        heard = book[..., CLAIMS] > 0
        claims = np.maximum(book[..., CLAIMS], 1.0)
        record = book[..., [CREDITS, DEBITS]]
        if self._style and self.constants.neighbours:
            style = book[..., STYLE] / claims
            apart = (style[:, :, None] - style[:, None, :]) / WIDTH
            near = self.constants.neighbours * np.exp(-0.5 * apart**2)
            near *= heard[:, :, None] & heard[:, None]
            near[:, np.arange(near.shape[1]), np.arange(near.shape[1])] = 1.0
            record = near @ record
        trust = (record[..., 0] + 1.0) / (record.sum(axis=-1) + 2.0)
        return trust, np.where(heard, book[..., IMPORTANCE] / claims, np.nan)

    def _score(
        self, rows: NDArray[Any], trust: FloatArray, boast: FloatArray, settled: FloatArray
    ) -> FloatArray:
        """Score claims ``(B, n, width)`` by themselves: ``(B, n)``."""
        constants = self.constants
        source = self._column(rows, "source").astype(np.int64)
        named = (source >= 0) & (source < trust.shape[1])  # of others' nothing may be known
        place = np.clip(source, 0, trust.shape[1] - 1)
        importance = self._cue(rows, "importance")
        believed = np.where(named, np.take_along_axis(trust, place, axis=1), 0.5)
        boasting = np.where(named, np.take_along_axis(boast, place, axis=1), np.nan)
        boasting = np.where(np.isnan(boasting), importance, boasting)
        successes = constants.own * self._column(rows, "credits")
        failures = constants.own * self._column(rows, "debits")
        believed = (successes + believed) / (successes + failures + 1.0)
        count = self._column(rows, "frequency")
        if self.rules.disclosure == "settled":
            count = count * settled[:, None] + constants.counts
        return np.asarray(
            believed**constants.power
            * count
            * (np.clip(importance, LEAST, MOST) if self._importance else 1.0)
            * np.exp(-constants.penalty * boasting)
        )

    def _fresh(self, candidates: Candidates, score: FloatArray) -> FloatArray:
        """Share of its worth that each claim keeps beside the better ones: ``(B, S + 1)``.

        Of two with one score, the one that stands in an earlier slot is the better.
        """
        apart, same = self.constants.apart, self.constants.same
        vectors = candidates.embedding
        overlap = np.clip((vectors @ vectors.swapaxes(1, 2) - apart) / (same - apart), 0.0, 1.0)
        overlap *= better(np.where(candidates.valid, score, -1.0))
        return np.asarray(np.maximum((1.0 - overlap).prod(axis=2), DUPLICATE))

    def _settled(self, observation: Observation) -> FloatArray:
        """Queries settled so far: ``(B,)``."""
        share = observation["context"][:, self.layout.index("settled", "context")]
        return np.asarray(share * float(scheduled(self.rules, self.layout)), dtype=np.float64)

    def _cue(self, rows: NDArray[Any], name: str) -> FloatArray:
        if name not in self.layout.limits.cues:
            return np.zeros(rows.shape[:-1])
        return self._column(rows, f"cues.{name}")

    def _column(self, rows: NDArray[Any], name: str) -> FloatArray:
        return np.asarray(rows[..., self.layout.index(name)], dtype=np.float64)


def better(score: FloatArray) -> FloatArray:
    """Say of each claim i whether j is better, by score and else by place: ``(B, i, j)``."""
    place = np.arange(score.shape[1])
    higher = score[:, None, :] > score[:, :, None]
    equal = (score[:, None, :] == score[:, :, None]) & (place < place[:, None])
    return np.asarray(higher | equal)
