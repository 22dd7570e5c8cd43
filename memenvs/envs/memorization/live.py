"""A memory of a real stream: claims arrive and answers are judged from outside, with no end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.features import Float32, Seen
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.observation import observe
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.envs.memorization.settled import Records
from memenvs.envs.memorization.slots import EMPTY
from memenvs.envs.memorization.stream import SLACK, Stream
from memenvs.envs.memorization.writing import Writing
from memenvs.material.incidence import IntArray
from memenvs.material.records import Claim

# What changes as a memory is written, beside what the stream itself holds.
SLOTS = ("claims", "written", "priority", "rows", "_similarity")
RECORDS = ("credits", "reads", "frequency", "queries")
COUNTS = ("decision", "decisions", "settled", "answered", "illegal", "read")
NAMES = 16_384  # sources, and groups, that are remembered once no claim at hand has them
MOST = 2**53


class Live(Writing):
    """The agent's side of a stream that is read as it comes: no material, no truth, no p_D.

    ``claims`` is how many the stream is expected to have. Each time that it proves longer it is
    expected to have twice as many: a policy that acts otherwise near the end does so seldom, and
    between two such times a share of the stream stands for as many claims as before. A claim is
    compared with the last ``claims`` before it and the stored ones: all others are forgotten, so
    that neither time nor memory grows with what was read. Queries are known by being settled alone,
    and the last ``claims`` of them count for the topics of a new claim.

    Inside, claims have places among those at hand; ``number`` gives how many were read before each.
    """

    def __init__(self, rules: Rules, actions: Actions, layout: Layout, claims: int) -> None:
        self.stream = Stream(layout)
        self._layout = layout
        self._window = claims
        super().__init__(rules, actions, layout, self.stream, claims)
        self.records: StreamRecords = StreamRecords(self.stream, layout)

    @property
    def considered(self) -> int | None:
        """Place of the claim that has arrived and was not decided about."""
        waiting = self.read - self.decision
        return self.stream.count - waiting if waiting > 0 else None

    @property
    def read(self) -> int:
        """Claims read so far, forgotten ones too."""
        return self.stream.read

    def numbers(self, places: IntArray) -> IntArray:
        """Give the numbers of claims at ``places`` (...), EMPTY where there is none."""
        found = np.full_like(places, EMPTY)
        held = places != EMPTY
        found[held] = self.stream.number[places[held]]
        return found

    def arrive(self, claim: Claim, vector: Float32) -> None:
        """Take the next claim into view; ``vector`` ``(d,)`` has length 1, or is zero."""
        self._forget()
        self.stream.take(claim, vector, self._window)
        self.records.grow(self._frequency(vector))
        if self.read > self.decisions:
            self.decisions *= 2
        self.scheduled = self.rules.total(self.decisions)

    def reword(self, place: int, text: str, vector: Float32) -> None:
        """Give the stored claim at ``place`` another text and vector; its records stay."""
        self.stream.reword(place, text, vector, self._window)
        self.records.frequency[place] = self._frequency(vector)
        slots = self.slots
        slot = int(np.flatnonzero(slots.claims == place)[0])
        slots.put(slot, place, int(slots.written[slot]), float(slots.priority[slot]))

    def _frequency(self, vector: Float32) -> np.float32:
        """Mean positive similarity of a claim to the last settled queries."""
        heard = self.stream.queries[-self._window :] @ vector
        return np.float32(np.maximum(heard, 0.0).mean() if len(heard) else 0.0)

    def observation(self) -> dict[str, NDArray[Any]]:
        """Give what an environment would show."""
        return observe(self, self._layout) | self.shown_mask()

    def settle(
        self, vector: Float32, answered: bool, claims: Iterable[int], read: Iterable[int] = ()
    ) -> None:
        """Hear how a query was answered, and which claims, by place, are behind the answer.

        ``read`` are the places of all that a limited reader read for it.
        """
        self.stream.forget_queries(self._window)
        query = len(self.stream.queries)
        if self.rules.feedback != "none":
            self.stream.ask(vector)
        self.hear(query, answered, claims, read)

    def _forget(self) -> None:
        """Let go of claims that are neither stored nor among the last ones."""
        stream, slots = self.stream, self.slots
        if stream.count < self._window + len(slots.claims) + SLACK:
            return
        stored = slots.claims[slots.occupied]
        recent = np.arange(stream.count - self._window, stream.count)
        kept = np.union1d(stored, recent)
        slots.claims = np.where(slots.occupied, np.searchsorted(kept, slots.claims), EMPTY)
        stream.keep(kept)
        stream.reader.forget(set(stream.source.tolist()), set(stream.group.tolist()), NAMES)
        self.records.keep(kept, stream.reader.sources)

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything that numbers say of the memory, for ``restore``."""
        arrays = {f"slots.{name}": getattr(self.slots, name) for name in SLOTS}
        arrays |= {f"records.{name}": getattr(self.records, name) for name in RECORDS}
        arrays |= {f"stream.{name}": getattr(self.stream, name) for name in Stream.PARTS}
        sources = self.records.sources
        arrays["sources.number"] = np.array(list(sources), dtype=np.int64)
        arrays["sources.records"] = np.array(list(sources.values()), np.float32).reshape(-1, 2)
        arrays["counts"] = np.array([getattr(self, name) for name in COUNTS], dtype=np.int64)
        return arrays | {"records.disclosed_mass": np.array(float(self.records.disclosed_mass))}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Become what ``as_arrays`` was taken of; the names in the reader are restored apart.

        Raises ``ValueError`` for arrays that no memory of these settings could give.
        """
        self._check(arrays)
        for name in Stream.PARTS:
            self.stream.extend(name, arrays[f"stream.{name}"])
        for name in SLOTS:
            setattr(self.slots, name, arrays[f"slots.{name}"])
        for name in RECORDS:
            setattr(self.records, name, arrays[f"records.{name}"])
        self.records.disclosed_mass = float(arrays["records.disclosed_mass"])
        self.records.restore(arrays["sources.number"].tolist(), arrays["sources.records"])
        for name, count in zip(COUNTS, arrays["counts"].tolist(), strict=True):
            setattr(self.stream if name == "read" else self, name, count)
        self.scheduled = self.rules.total(self.decisions)

    def _check(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Raise ``ValueError`` where an array is missing, or of other kind, shape or range."""
        own = self.as_arrays()
        if own.keys() != arrays.keys():
            raise ValueError("its arrays are not those of a memory")
        rows = len(arrays["stream.source"]) if arrays["stream.source"].ndim == 1 else -1
        queries = arrays["stream.queries"].shape[0] if arrays["stream.queries"].ndim else -1
        sources = arrays["sources.number"].shape[0] if arrays["sources.number"].ndim else -1
        most = self._window + SLACK
        lengths = {"stream.queries": queries}
        lengths |= dict.fromkeys(("sources.number", "sources.records"), sources)
        for name, mine in own.items():
            wanted = mine.shape
            if name in lengths or name.startswith("stream."):
                wanted = (lengths.get(name, rows), *mine.shape[1:])
            elif name == "records.credits":
                wanted = (2, rows)
            elif name in ("records.frequency", "records.reads"):
                wanted = (rows,)
            found = arrays[name]
            ranged = found < np.inf if name == "slots._similarity" else np.isfinite(found)
            if found.shape != wanted or found.dtype != mine.dtype or not ranged.all():
                raise ValueError(f"its array '{name}' is of another shape or kind")
        if rows > most + len(self.slots.claims) or queries > most:
            raise ValueError("it has more rows than a memory keeps")
        places, counts = arrays["slots.claims"], arrays["counts"]
        held = places[places != EMPTY]
        number, read = arrays["stream.number"], int(counts[COUNTS.index("read")])
        last = int(number[-1]) + 1 if rows else 0
        if not (
            (places >= EMPTY).all()
            and (places < rows).all()
            and len(set(held.tolist())) == len(held)
            and (np.diff(number) > 0).all()
            and (number >= 0).all()
            and last == read == int(counts[0]) <= int(counts[1])
            and (counts >= 0).all()
            and (counts <= MOST).all()
            and (np.abs(arrays["stream.embedding"]) <= 1.001).all()
            and (arrays["records.disclosed_mass"] >= 0).all()
        ):
            raise ValueError("its numbers do not go together")


class StreamRecords(Records):
    """Records of the claims at hand, and of every source that was ever credited or debited."""

    def __init__(self, features: Seen, layout: Layout) -> None:
        super().__init__(features, layout)
        self.sources: dict[int, Float32] = {}  # debits and credits (2,) by source
        self._of_source = np.zeros((2, 0), dtype=np.float32)  # of each claim's source

    @property
    def source_credits(self) -> Float32:
        """Debits and credits of each claim's source: ``(2, E)``."""
        return self._of_source

    def grow(self, frequency: np.float32) -> None:
        """Make room for the claim that has just arrived, with its topic's frequency."""
        none = np.zeros((2, 1), dtype=np.float32)
        own = self.sources.get(int(self._features.source[-1]))
        self.credits = np.concatenate([self.credits, none], axis=1)
        self.reads = np.append(self.reads, np.float32(0.0))
        self.frequency = np.append(self.frequency, frequency)
        column = none if own is None else own[:, None]
        self._of_source = np.concatenate([self._of_source, column], axis=1)

    def keep(self, places: IntArray, sources: set[int]) -> None:
        """Go on with the claims at ``places`` alone, and with sources that still have a name."""
        self.credits, self.frequency = self.credits[:, places], self.frequency[places]
        self.reads = self.reads[places]
        self._of_source = self._of_source[:, places]
        if len(self.sources) > len(sources):
            self.sources = {s: own for s, own in self.sources.items() if s in sources}

    def restore(self, sources: list[int], records: Float32) -> None:
        """Take up the records of sources, after all else was."""
        self.sources = dict(zip(sources, records, strict=True))
        none = np.zeros(2, dtype=np.float32)
        columns = [self.sources.get(s, none) for s in self._features.source.tolist()]
        self._of_source = np.array(columns, dtype=np.float32).reshape(-1, 2).T

    def _credit(self, side: int, source: int) -> None:
        own = self.sources.setdefault(source, np.zeros(2, dtype=np.float32))
        own[side] += 1
        self._of_source[side, self._features.source == source] = own[side]
