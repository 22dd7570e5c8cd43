"""The information-limited reference: what one who knows the rates can make of the observation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies.base import Observation, State
from memenvs.policies.beliefs.filter import Beliefs, Evidence
from memenvs.policies.beliefs.rates import Rates, look_up
from memenvs.policies.rules.joint import Candidates, JointRule, Judgement, scheduled
from memenvs.policies.rules.trust import better
from memenvs.policies.training_materials import tier_of

FALLBACK = "hidden"  # whose rates are assumed of materials of no tier
ASKED_BEFORE = 20.0  # queries that what is known of topics beforehand counts for
MOST_OVERLAP = 0.98
UNSEEN = 2.0  # decisions left before the first


class Bayes(JointRule):
    """Keep what is worth most by a Bayes filter over worlds, kinds of sources and truths.

    It knows the rates of the tier (how reliable sources are, what cues say, how often liars
    overclaim) and, where the tier has one world, its topics; never a truth. The value of a memory
    is the sum of v_i p_i Π (1 − p_j o_ij) over its claims, j running over the claims that are worth
    more: p is the probability of being true, v that of answering the next query, o the overlap. It
    gives up what lowers the value least (one step ahead, so no bound).

    State: logs of what each source has shown ``(B, W, s, K)``; of every slot the evidence of its
    settlements, its record, and P(it answers) each query asked ``(B, S + 1, T)``; the decisions
    left; the queries asked ``(B, T, d)`` and their number.
    """

    knows: ClassVar[str] = "rates"

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        tier = tier_of(env)
        self.rates = Rates.of(tier) if tier else replace(Rates.of(TIERS[FALLBACK]), centres=None)
        limits = self.layout.limits
        sources = limits.claims if tier is None else tier.parameters.size.sources
        self.beliefs = Beliefs(self.rates, limits.cues, min(sources, limits.claims))
        self._scheduled = scheduled(self.rules, self.layout)
        # Only what is disclosed bit by bit has to be remembered.
        self._kept = self._scheduled if self.rules.disclosure == "settled" else 0

    def start(self, episodes: IntArray) -> State:
        """Believe the rates alone."""
        size, slots = len(episodes), self.actions.slots
        return (
            self.beliefs.start(size),
            np.zeros((size, slots, 2)),  # log likelihood of a claim's settlements: false, true
            np.zeros((size, slots, 2)),  # debits, credits
            np.zeros((size, slots + 1, self._kept)),  # P(each slot's and the last claim answer)
            np.full(size, UNSEEN),
            np.zeros((size, self._kept, self.layout.limits.embedding), dtype=np.float32),
            np.zeros(size, dtype=np.int64),
        )

    def judge(self, observation: Observation, state: State) -> Judgement:
        """Update the beliefs, and say what the memory would lose with each claim."""
        sources, evidence, record, answered, left, asked, count = (a.copy() for a in state)
        candidates = Candidates(self, observation)
        now = self._context(observation, "decisions_left").astype(np.float64)
        written = self._written(candidates, left, now)
        evidence[written] = record[written] = 0.0
        stored, arrived = answered[:, :-1], answered[:, -1:]
        stored[written] = np.broadcast_to(arrived, stored.shape)[written]

        shown = self.beliefs.of(candidates.rows, candidates.source, self.layout)
        first = left == UNSEEN
        if self.layout.pool:
            everything = self._pool(observation)
            self.beliefs.hear(sources, everything, first[:, None] & (everything.source >= 0))
        else:
            self.beliefs.hear(sources, shown.last(), candidates.valid[:, -1:])
        new = np.stack([candidates.column(n)[:, :-1] for n in ("debits", "credits")], axis=-1)
        told = np.maximum(new - record, 0.0).sum(axis=-1)
        if self.rules.utility != "coverage":  # which says nothing of truth
            change = new > record
            self.beliefs.settle(sources, shown, evidence, change[..., 0], change[..., 1])
        true = np.where(candidates.valid, self.beliefs.true(sources, shown, evidence), 0.0)

        hits = self._hits(observation, candidates, answered, asked, count, told)
        asks = self._asks(candidates.rows, candidates.embedding, hits, count)
        worth = self._worth(candidates, true, asks, answered, asked, count, now)
        worth = np.where(candidates.valid, worth, -1.0)
        order = None
        if self.layout.pool:
            order = self._order(observation, sources, everything, asked, count)
        return Judgement(worth, order, (sources, evidence, new, answered, now, asked, count))

    def _written(self, candidates: Candidates, left: FloatArray, now: FloatArray) -> BoolArray:
        """Slots that the last decision wrote into: ``(B, S)``."""
        step = np.where(left == UNSEEN, 0.0, left - now)
        fresh = candidates.column("age")[:, :-1] < 1.5 * step[:, None]
        return np.asarray(fresh & candidates.valid[:, :-1])

    def _pool(self, observation: Observation) -> Evidence:
        rows = observation["claims"]
        valid = rows[..., self.layout.index("valid")] == 1
        source = np.where(valid, rows[..., self.layout.index("source")], -1).astype(np.int64)
        return self.beliefs.of(rows, source, self.layout)

    def _hits(
        self,
        observation: Observation,
        candidates: Candidates,
        answered: FloatArray,
        asked: NDArray[np.float32],
        count: IntArray,
        told: FloatArray,
    ) -> FloatArray:
        """Queries, or mass of them, that each candidate answers of those asked: ``(B, S + 1)``.

        What is newly disclosed is entered in ``answered``, ``asked`` and ``count``; ``told`` is for
        how many of it each stored claim was credited or debited ``(B, S)``.
        """
        vectors = candidates.embedding
        queries = observation["queries"][..., self.layout.slice("embedding", "queries")]
        if not self._kept:
            return self._expected_hits(vectors, queries, self._weights(observation))
        share = self._context(observation, "settled")
        total = np.rint(share.astype(np.float64) * self._scheduled).astype(np.int64)
        fresh = np.minimum(total - count, queries.shape[1])
        newest = np.arange(queries.shape[1]) < fresh[:, None]
        episode, row = np.nonzero(newest)
        place = count[episode] + row
        asked[episode, place] = queries[episode, row]
        chance = (
            look_up(self.rates.answering, vectors[:, :-1] @ queries.swapaxes(1, 2))
            * newest[:, None]
        )
        answered[episode, :-1, place] = self._answers(chance, told)[episode, :, row]
        count += fresh
        answered[:, -1] = self._of_arriving(candidates, answered, asked) * self._until(count)
        return np.asarray(answered.sum(axis=-1))

    def _answers(self, chance: FloatArray, told: FloatArray) -> FloatArray:
        """P(each stored claim answers) what was newly settled ``(B, S, H)``, by similarity."""
        return chance

    def _of_arriving(
        self, candidates: Candidates, answered: FloatArray, asked: NDArray[np.float32]
    ) -> FloatArray:
        """P(the considered claim answers) each query asked: ``(B, T)``."""
        similarity = (candidates.embedding[:, -1:] @ asked.swapaxes(1, 2))[:, 0]
        return look_up(self.rates.answering, similarity)

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
        """What keeping each candidate beside the others is worth: ``(B, S + 1)``."""
        return losses(candidates, true, asks, self.rates)

    def _weights(self, observation: Observation) -> FloatArray:
        """Weight of each query that is known beforehand: ``(B, Q)``."""
        return np.asarray(
            observation["queries"][..., self.layout.index("weight", "queries")], dtype=np.float64
        )

    def _until(self, count: IntArray) -> FloatArray:
        return (np.arange(self._kept) < count[:, None]).astype(np.float64)

    def _expected_hits(
        self, vectors: FloatArray, queries: NDArray[Any], weight: FloatArray
    ) -> FloatArray:
        """Sum P(a claim answers a query) over weighted queries ``(B, T)``: ``(B, n)``."""
        chance = look_up(self.rates.answering, vectors @ queries.swapaxes(1, 2))
        return np.asarray((chance @ weight[..., None])[..., 0])

    def _asks(
        self, rows: NDArray[Any], vectors: FloatArray, hits: FloatArray, count: IntArray
    ) -> FloatArray:
        """P(a claim answers the next query), were it true: ``(B, n)``."""
        size = self._size(rows)
        if not self._kept:
            return size * hits
        prior = ASKED_BEFORE * self.rates.topic_mass(vectors)
        return np.asarray(size * (hits + prior) / (count[:, None] + ASKED_BEFORE))

    def _size(self, rows: NDArray[Any]) -> FloatArray:
        """Queries that true claims ``(B, n, width)`` answer, over the mean number: ``(B, n)``."""
        if "importance" not in self.layout.limits.cues:
            return np.ones(rows.shape[:-1])
        importance = rows[..., self.layout.index("cues.importance")].astype(np.float64)
        return self.rates.expected_answers(importance)

    def _order(
        self,
        observation: Observation,
        sources: FloatArray,
        everything: Evidence,
        asked: NDArray[np.float32],
        count: IntArray,
    ) -> FloatArray:
        """Worth of the claims of a pool, each by itself: ``(B, E)``."""
        rows = observation["claims"]
        vectors = rows[..., self.layout.slice("embedding")].astype(np.float64)
        if self._kept:
            hits = self._expected_hits(vectors, asked, self._until(count))
        else:
            queries = observation["queries"][..., self.layout.slice("embedding", "queries")]
            hits = self._expected_hits(vectors, queries, self._weights(observation))
        true = self.beliefs.true(sources, everything, np.zeros((*hits.shape, 2)))
        return true * self._asks(rows, vectors, hits, count)

    def _context(self, observation: Observation, name: str) -> NDArray[Any]:
        values: NDArray[Any] = observation["context"][:, self.layout.index(name, "context")]
        return values


def losses(candidates: Candidates, true: FloatArray, asks: FloatArray, rates: Rates) -> FloatArray:
    """Value that all candidates together lose without each of them: ``(B, S + 1)``."""
    worth = true * asks
    vectors = candidates.embedding
    overlap = look_up(rates.overlap, vectors @ vectors.swapaxes(1, 2))
    shadow = np.minimum(overlap, MOST_OVERLAP) * true[:, None, :]
    left = 1.0 - np.where(better(worth), shadow, 0.0)  # (B, i, j) of i beside j
    kept = worth * left.prod(axis=2)
    without = kept[:, :, None] / left
    return np.asarray(kept.sum(axis=1)[:, None] - (without.sum(axis=1) - kept))
