"""What a batch of episodes has learned from settlements, and how it shows."""

from __future__ import annotations

import numpy as np

from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.buffers import Buffers
from memenvs.envs.memorization.batch.compiled import CLAIM, SOURCE, sentinels
from memenvs.envs.memorization.batch.memory import BatchMemory
from memenvs.envs.memorization.batch.reward import Answers, BatchAccount
from memenvs.envs.memorization.batch.similarity import Similarity
from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.rows import Rows
from memenvs.material.incidence import BoolArray, IntArray


class BatchRecords:
    """Counts per claim and source, frequencies of topics and disclosed queries of B episodes."""

    def __init__(
        self,
        buffers: Buffers,
        layout: Layout,
        rules: Rules,
        bank: Bank,
        account: BatchAccount,
        memory: BatchMemory,
        similarity: Similarity,
    ) -> None:
        self._buffers = buffers
        columns = layout.memory.slices
        self._credits = columns["credits"].start  # debits stand beside them, as for sources
        self.source_credits = slice(columns["source_credits"].start, columns["source_debits"].stop)
        self._reads = columns["reads"].start if layout.reads else None
        self._frequency = columns["frequency"].start
        self._query_columns = {name: place.start for name, place in layout.queries.slices.items()}
        self._pool = layout.pool
        self._disclosure = rules.disclosure
        self._feedback = rules.feedback
        self._bank = bank
        self._account = account
        self._memory = memory
        self._similarity = similarity
        episodes, _ = buffers.claim.shape
        self._never = sentinels(layout.limits)[1]
        # Queries in view, by their place among those of all materials, and their outcomes.
        self._view = np.zeros((2, episodes, layout.query_rows), dtype=np.int64)
        # Credits and debits of every source, the columns' order; source 0 keeps no record.
        self.sources: Float32 = np.zeros((episodes, layout.limits.claims + 1, 2), dtype=np.float32)
        self.frequency: Float32 = np.zeros((episodes, self._never + 1), dtype=np.float32)
        self._disclosed = np.zeros(episodes, dtype=np.int64)

    def begin(self, part: Rows) -> None:
        """Forget what was settled, and show the queries that are known beforehand."""
        at, rows, arrays = part.at, self._account.row[part.at], self._bank.arrays
        self.sources[at] = 0.0
        self._disclosed[at] = 0
        self.frequency[at] = arrays["frequency"][rows]
        self._similarity.begin(part, rows)
        count = arrays["queries"].shape[1]
        shown = {
            "all": np.arange(count - 1)[None],
            "one": self._account.draws[at, :1],
            "settled": np.array([[count - 1]]),  # none
        }
        places = rows[:, None] * count + shown[self._disclosure]
        self._view[0, at] = places
        self._view[1, at] = 0
        if self._disclosure == "one":
            self._observe_topics(part, places)
        if self._pool:
            self._buffers.claims[at] = arrays["features"][rows, :-2]
            self._show(part)

    def settle(self, part: Rows, answers: Answers) -> None:
        """Enter settled queries: their outcomes, and who is credited or debited."""
        if self._feedback == "none":
            return
        at, count = part.at, answers.rows.shape[1]
        view, outcome = self._view, 2 * answers.answered.astype(np.int64) - 1
        if self._disclosure == "settled":  # newest first, the oldest drop out
            view[:, at, count:] = view[:, at, : view.shape[2] - count]
            view[0, at, :count] = answers.rows[:, ::-1]
            view[1, at, :count] = outcome[:, ::-1]
            self._observe_topics(part, answers.rows)
        elif self._disclosure == "one":
            view[1, at, 0] = outcome[:, -1]
        else:
            place = answers.rows - view[0, at, :1]
            view[1, part.numbers[:, None], place] = outcome
        if self._feedback == "claims":
            self._credit(part, answers)
            self._count_reads(part, answers)
        self._show(part)

    def outcomes(self, part: Rows, count: int) -> BoolArray:
        """Say of the last ``count`` queries in view, in order, whether they were answered."""
        view = self._view[1, part.at, :count]
        return np.asarray(view[:, ::-1] > 0)

    def show_queries(self, part: Rows, claims: IntArray, out: Float32) -> None:
        """Write the queries in view, beside claims ``(n,)``, into ``(n, H, width)``."""
        at = part.at
        view, outcome = self._view[:, at]
        stack = self._bank.arrays["queries"]
        stack.reshape(-1, stack.shape[2]).take(view, axis=0, out=out, mode="clip")
        out[..., self._query_columns["outcome"]] = outcome
        similarity = self._similarity.to_queries(part, view, claims)
        out[..., self._query_columns["similarity"]] = similarity

    def _observe_topics(self, part: Rows, rows: IntArray) -> None:
        """Update each claim's mean positive similarity to the disclosed queries."""
        at, count = part.at, rows.shape[1]
        mean = np.maximum(self._similarity.topics(part, rows[:, 0]), 0.0)  # (n, L)
        for later in range(1, count):
            mean += np.maximum(self._similarity.topics(part, rows[:, later]), 0.0)
        if count > 1:
            mean /= count
        self._disclosed[at] += count
        step = (count / self._disclosed[at]).astype(np.float32)[:, None]
        before = self.frequency[at]
        mean -= before
        mean *= step
        mean += before
        self.frequency[at] = mean

    def _credit(self, part: Rows, answers: Answers) -> None:
        """Count for every stored claim behind an answer, whether that was right."""
        n, k = answers.rows.shape
        places, capacity = self._never + 1, len(self._memory.occupied)
        episode, query, way = answers.used.nonzero()  # few
        if not len(episode):
            return
        number = episode * k + query
        behind = number[:, None] * places + answers.supports[episode, query, :, way]
        marked = np.zeros(n * k * places, dtype=bool)  # a claim counts once for a query
        marked[behind] = True
        marked[places - 2 :: places] = False  # the one that is always stored
        number, claim = divmod(marked.nonzero()[0], places)
        wrong = ~answers.answered.reshape(-1)[number]
        number = part.numbers[number // k]
        slot = (self._memory.claims[:, number] == claim).argmax(axis=0)
        memory = self._buffers.memory
        row = (number * capacity + slot) * memory.shape[2]
        np.add.at(memory.reshape(-1), row + self._credits + wrong, np.float32(1.0))
        if self._pool:
            claims = self._buffers.claims
            row = (number * claims.shape[1] + claim) * claims.shape[2]
            np.add.at(claims.reshape(-1), row + self._credits + wrong, np.float32(1.0))
        source = self._memory.tags[SOURCE, slot, number]
        row = (number * self.sources.shape[1] + source) * 2
        np.add.at(self.sources.reshape(-1), row + wrong, np.float32(1.0))
        self.sources[:, 0] = 0.0

    def _count_reads(self, part: Rows, answers: Answers) -> None:
        """Count for every stored claim the queries for which it was read."""
        if answers.read is None or self._reads is None:
            return
        counts = answers.read.sum(axis=1)  # (n, L)
        place, claim = np.nonzero(counts)
        times = counts[place, claim]
        number = part.numbers[place]
        slot = (self._memory.claims[:, number] == claim).argmax(axis=0)
        self._buffers.memory[number, slot, self._reads] += times
        if self._pool:
            self._buffers.claims[number, claim, self._reads] += times

    def _show(self, part: Rows) -> None:
        """Write what changed into the rows of slots and, in a pool, of all claims."""
        at, memory, slots = part.at, self._buffers.memory, self._memory.tags[..., part.at]
        sources = self.sources.reshape(-1, 2)
        first = part.numbers * self.sources.shape[1]
        found = sources.take(slots[SOURCE] + first, axis=0)
        memory[at, :, self.source_credits] = found.transpose(1, 0, 2)
        place = slots[CLAIM] + part.numbers * self.frequency.shape[1]
        memory[at, :, self._frequency] = self.frequency.take(place).T
        if self._pool:
            tags = self._bank.arrays["tags"][self._account.row[at], :-2, SOURCE]
            claims = self._buffers.claims
            claims[at, :, self.source_credits] = sources.take(first[:, None] + tags, axis=0)
            claims[at, :, self._frequency] = self.frequency[at, :-2]
