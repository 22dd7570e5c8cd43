"""The rewards of a batch of episodes: which queries are settled, and what the memories answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.counter import QUERY, TRUTH, uniforms
from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.compiled import STORED, TRUE
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.rows import Rows
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.objective import Objective
from memenvs.reading.answers import read_claims, read_items, reader_of

CELLS = 1 << 22  # places of supports that are looked up at once


class Answers(NamedTuple):
    """What the memories of n episodes make of k queries each."""

    rows: IntArray  # (n, k) place of the query among those of all materials
    answered: BoolArray  # (n, k)
    supports: IntArray  # (n, k, K, R) claims of every way to answer
    used: BoolArray  # (n, k, R) ways that are credited or debited
    read: BoolArray | None  # (n, k, L) stored claims behind what a limited reader read


class Masses(NamedTuple):
    """Query mass that n memories answer, exactly: ``(n,)`` each."""

    coverage: FloatArray
    precision: FloatArray
    utility: FloatArray


class BatchAccount:
    """Draws the queries of B episodes beforehand and settles them against the memories."""

    def __init__(self, bank: Bank, rules: Rules, scheduled: int, episodes: int) -> None:
        self._bank = bank
        self._utility = rules.utility
        self._objective = Objective.of(rules)
        self._one = rules.disclosure == "one"
        self.row = np.zeros(episodes, dtype=np.int64)  # (B,) material of each episode
        self.draws = np.zeros((episodes, scheduled), dtype=np.int64)
        self.drawn = np.zeros(episodes, dtype=np.int64)  # (B,) how many of them were settled

    def begin(self, part: Rows, rows: IntArray, keys: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Start accounts for materials; gives the bits of their claims: ``(n, L)``."""
        arrays, at = self._bank.arrays, part.at
        self.row[at] = rows
        self.drawn[at] = 0
        count = 1 if self._one else self.draws.shape[1]
        drawn = uniforms(keys[:, None], QUERY, np.arange(count))
        self.draws[at] = _find(arrays["cumulative"], rows, drawn)
        bits: NDArray[np.uint8] = arrays["bits"][rows]
        uncertain = ~self._bank.certain[rows]
        if uncertain.any():  # truths between 0 and 1 are drawn once
            truth = arrays["truth"][rows[uncertain]]
            chance = uniforms(keys[uncertain, None], TRUTH, np.arange(truth.shape[1]))
            bits[uncertain] = np.where(chance < truth, STORED | TRUE, STORED)
        bits[:, -2:] = STORED | TRUE, 0
        return bits

    def settle(self, part: Rows, count: int, bitmap: NDArray[np.uint8]) -> Answers:
        """Settle the next ``count`` queries of some episodes against bitmaps ``(B, L)``."""
        at, (_, places) = part.numbers, bitmap.shape
        scheduled = self.draws.shape[1]
        first = at * scheduled + self.drawn[at]
        queries = self.draws.take(first[:, None] + np.arange(count))
        self.drawn[part.at] += count
        rows = queries + (self.row[at] * self._queries)[:, None]
        supports, ways = self._ways(rows, at * places, bitmap)
        read = None
        if self._objective.limited:
            found, read = self._read(part, queries, bitmap)
            ways = np.where(found, ways, np.uint8(0))
        if self._utility == "end-to-end":
            ways = ways * self._named(rows, ways)
        found = np.bitwise_or.reduce(ways, axis=-1)
        wanted = STORED if self._utility == "coverage" else TRUE
        return Answers(rows, (found & wanted) > 0, supports, ways > 0, read)

    def masses(self, part: Rows, memory: NDArray[np.uint8]) -> Masses:
        """Give the exact utilities of the memories of some episodes; ``(n, L)`` bitmaps."""
        result = np.zeros((3, part.size))
        step = max(1, CELLS // self._bank.arrays["supports"][0].size)
        for start in range(0, part.size, step):
            chunk = slice(start, start + step)
            result[:, chunk] = self._certain_masses(self.row[part.at][chunk], memory[chunk])
        exactly = ~self._bank.certain[self.row[part.at]] | self._objective.limited | self._one
        for place in np.flatnonzero(exactly).tolist():
            number = part.numbers[place]
            material = self._bank.material(int(self.row[number]))
            stored = memory[place, : len(material.claims)] > 0
            exact = material.evaluate(stored)
            known = int(self.draws[number, 0]) if self._one else None
            utility = float(self._objective.asking(known).expected(material, stored))
            result[:, place] = float(exact.coverage), float(exact.precision), utility
        return Masses(*result)

    def _read(
        self, part: Rows, queries: IntArray, bitmap: NDArray[np.uint8]
    ) -> tuple[BoolArray, BoolArray]:
        """Say which ways are of items that a limited reader reads ``(n, k, R)``; and the claims."""
        reader, stack = reader_of(self._objective.reader), self._bank.arrays["items"]
        ways = np.zeros((*queries.shape, stack.shape[2]), dtype=bool)
        claims = np.zeros((*queries.shape, bitmap.shape[1]), dtype=bool)
        for place, number in enumerate(part.numbers.tolist()):
            row = int(self.row[number])
            material = self._bank.material(row)
            stored = bitmap[number, : len(material.claims)] > 0
            spanned = material.incidence.span(stored)
            read = read_items(material, spanned, reader, queries[place])
            items = stack[row, queries[place]]  # -1 where there are no more ways
            ways[place] = np.take_along_axis(read, items, axis=1) if read.size else False
            claims[place, :, : len(stored)] = read_claims(material, stored, read)
        return ways, claims

    @property
    def _queries(self) -> int:
        return int(self._bank.arrays["supports"].shape[1])

    def _certain_masses(self, rows: IntArray, memory: NDArray[np.uint8]) -> FloatArray:
        """Coverage, precision and utility where every truth is 0 or 1: ``(3, n)``."""
        arrays, base = self._bank.arrays, np.arange(len(rows)) * memory.shape[1]
        probability = arrays["probability"][rows]
        _, ways = self._ways(rows[:, None], base, memory, "all_")
        place, way = ways[:, 0].nonzero()  # few
        query = arrays["all_queries"][rows[place], 0, way]
        true = (ways[place, 0, way] & TRUE) > 0
        coverage = _mass(place, query, probability)
        precision = _mass(place[true], query[true], probability)
        utility = coverage if self._utility == "coverage" else precision
        if self._utility == "end-to-end":
            asked = rows[:, None] * self._queries + np.arange(self._queries)
            _, ways = self._ways(asked, base, memory)
            named = np.bitwise_or.reduce(ways * self._named(asked, ways), axis=-1)
            place, query = ((named & TRUE) > 0).nonzero()
            utility = _mass(place, query, probability)
        return np.array([coverage, precision, utility])

    def _ways(
        self, rows: IntArray, base: IntArray, bitmap: NDArray[np.uint8], kind: str = ""
    ) -> tuple[IntArray, NDArray[np.uint8]]:
        """Look up ways to answer queries ``(n, k)``: their claims ``(n, k, K, R)`` and bits.

        The bits ``(n, k, R)`` say of each way whether it is stored, and whether it is true as well;
        ``base`` ``(n,)`` is where the memory of each episode begins in ``bitmap``.
        """
        stack = self._bank.arrays[f"{kind}supports"]
        supports = stack.reshape(-1, *stack.shape[2:]).take(rows, axis=0)
        offset = base[:, None, None, None]
        bits = bitmap.reshape(-1).take(supports + offset)
        ways = bits[:, :, 0]
        for place in range(1, bits.shape[2]):
            ways = ways & bits[:, :, place]
        stack = self._bank.arrays[f"{kind}conflicts"]
        if stack.shape[2]:
            conflicts = stack.reshape(-1, *stack.shape[2:]).take(rows, axis=0)
            withdrawn = bitmap.reshape(-1).take(conflicts + offset).any(axis=2)
            ways = np.where(withdrawn, np.uint8(0), ways)
        return supports, ways

    def _named(self, rows: IntArray, ways: NDArray[np.uint8]) -> BoolArray:
        """Say which ways belong to the item that is named, the best match: ``(n, k, R)``."""
        stack = self._bank.arrays["items"]
        items = stack.reshape(-1, stack.shape[2]).take(rows, axis=0)
        first = (ways > 0).argmax(axis=-1)[..., None]
        return np.asarray(items == np.take_along_axis(items, first, axis=-1))


def _mass(place: IntArray, query: IntArray, probability: FloatArray) -> FloatArray:
    """Sum the probability ``(n, Q)`` of answered queries, each counted once: ``(n,)``."""
    answered = np.zeros(probability.shape)
    answered[place, query] = 1.0
    return np.asarray(np.matmul(answered[:, None], probability[..., None])[:, 0, 0])


def _find(cumulative: FloatArray, rows: IntArray, values: FloatArray) -> IntArray:
    """Search values ``(n, k)`` in rows of ``cumulative``, as ``np.searchsorted`` from the right.

    A row's length is a power of two, and its last number above all values.
    """
    length = cumulative.shape[1]
    flat = cumulative.reshape(-1)
    place = np.repeat(rows[:, None] * length, values.shape[1], axis=1)
    step = length // 2
    while step:
        place += step * (flat.take(place + (step - 1)) <= values)
        step //= 2
    found: IntArray = place - rows[:, None] * length
    return found
