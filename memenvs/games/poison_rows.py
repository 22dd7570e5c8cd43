"""Compiled materials into which false claims can be put while their episodes run."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.counter import NOISE, VOICE, uniforms
from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.compiled import (
    ABSENT,
    CLAIM,
    GROUP_LABEL,
    SOURCE,
    SOURCE_LABEL,
    STORED,
    WAYS,
    Arrays,
    blank_ways,
    sentinels,
)
from memenvs.envs.memorization.layout import Layout
from memenvs.errors import MaterialError
from memenvs.games.poison_targets import Injections, Targets, voices
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.reading.utility import DECIMALS

LIKENESS = 0.93  # similarity of two wordings of one content, as among generated claims


class PoisonRows:
    """One row of compiled arrays for each of B episodes, as ``Bank`` has them for materials.

    The last ``budget`` claims of a row are false ones, nothing until they are put there.
    """

    def __init__(self, bank: Bank, layout: Layout, budget: int, episodes: int) -> None:
        self.arrays: Arrays = {}
        self.claims = np.zeros(episodes, dtype=np.int64)
        self.certain: BoolArray = np.ones(episodes, dtype=bool)
        self.numbers = [0] * episodes
        self.budget = budget
        self._bank = bank
        self._layout = layout
        self._episodes = episodes
        self._rows = np.zeros(episodes, dtype=np.int64)  # in the bank
        self._ways = np.zeros(episodes, dtype=np.int64)  # of all queries, the false ones' too
        self._closeness: FloatArray = np.zeros((episodes, 0, 0))

    def material(self, row: int) -> Material:
        """Give the material of an episode, without what was put into it."""
        return self._bank.material(int(self._rows[row]))

    def claim(self, place: IntArray | int) -> IntArray:
        """Number of the false claim that was put there as the ``place``-th."""
        return np.asarray(self._layout.limits.claims - self.budget + place)

    def template(self, episode: int, query: int) -> int:
        """Claim whose wording an attack on a query takes."""
        return int(self._target(int(self._rows[episode])).template[query])

    def begin(self, numbers: IntArray, rows: IntArray) -> None:
        """Copy materials of the bank for new episodes."""
        self._make_room()
        limits, base = self._layout.limits, self._bank.arrays
        for name, stack in self.arrays.items():
            if name in WAYS:
                stack[numbers] = blank_ways(name, stack.shape[1:], limits)
                corner: tuple[Any, ...] = tuple(slice(size) for size in base[name].shape[1:])
                stack[(numbers, *corner)] = base[name][rows]
            else:
                stack[numbers] = base[name][rows]
        self._rows[numbers] = rows
        self.claims[numbers] = self._bank.claims[rows] + self.budget
        self._ways[numbers] = base["all_queries"].shape[2]
        self._closeness[numbers] = -np.inf
        for number, row in zip(numbers.tolist(), rows.tolist(), strict=True):
            if not self._bank.certain[row]:
                raise MaterialError(
                    "has truths between 0 and 1; poison is played on claims that are true or not",
                    file=self._bank.material(row).name,
                )
            self.numbers[number] = self._bank.numbers[row]
            found = self._target(row).closeness
            self._closeness[number, : found.shape[0], : found.shape[1]] = found

    def put(self, new: Injections) -> IntArray:
        """Put false claims into episodes; gives their numbers ``(n,)``."""
        claims = self.claim(new.place)
        templates = np.array(
            [
                self.template(episode, query)
                for episode, query in zip(new.episodes.tolist(), new.query.tolist(), strict=True)
            ]
        )
        vectors = self._word(new, templates)
        self._relate(new, claims, vectors)
        self._describe(new, claims, templates, vectors)
        for place, (episode, query) in enumerate(
            zip(new.episodes.tolist(), new.query.tolist(), strict=True)
        ):
            answered = self._target(int(self._rows[episode])).answers[query]
            self._answer(episode, int(claims[place]), int(new.place[place]), answered)
        return claims

    def _target(self, row: int) -> Targets:
        ways = self._bank.arrays["items"].shape[2]
        return self._bank.worked_out(row, partial(Targets.of, ways=ways))

    def _make_room(self) -> None:
        """Allocate the rows, or widen those of the ways to answer."""
        base, limits = self._bank.arrays, self._layout.limits
        for name, array in base.items():
            shape = list(array.shape[1:])
            if name in WAYS:
                more = self.budget * (limits.queries if name.startswith("all_") else 1)
                shape[-1] += more
            old = self.arrays.get(name)
            if old is not None:
                shape = [max(pair) for pair in zip(shape, old.shape[1:], strict=True)]
                if tuple(shape) == old.shape[1:]:
                    continue
            stack = np.zeros((self._episodes, *shape), dtype=array.dtype)
            if name in WAYS:
                stack[:] = blank_ways(name, tuple(shape), limits)
            if old is not None:
                stack[(slice(None), *(slice(size) for size in old.shape[1:]))] = old
            self.arrays[name] = stack
        rows, ways = self.arrays["items"].shape[1:]
        if self._closeness.shape[1:] != (rows, ways):
            wider = np.full((self._episodes, rows, ways), -np.inf)
            wider[:, : self._closeness.shape[1], : self._closeness.shape[2]] = self._closeness
            self._closeness = wider

    def _word(self, new: Injections, templates: IntArray) -> NDArray[np.float32]:
        """Give the vectors of another wording of the templates: ``(n, d)``."""
        place = self._layout.slice("embedding")
        taken = self.arrays["features"][new.episodes, templates, place].astype(np.float64)
        width = taken.shape[1]
        counter = 2 * (new.place[:, None] * width + np.arange(width))
        keys = new.keys[:, None]
        # Normal numbers (Box and Muller 1958).
        radius = np.sqrt(-2 * np.log1p(-uniforms(keys, NOISE, counter)))
        noise = radius * np.cos(2 * np.pi * uniforms(keys, NOISE, counter + 1))
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        noise *= np.sqrt(LIKENESS**-2 - 1)
        found = taken + noise * np.linalg.norm(taken, axis=1, keepdims=True)
        length = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.maximum(length, 1e-12), dtype=np.float32)

    def _relate(self, new: Injections, claims: IntArray, vectors: NDArray[np.float32]) -> None:
        """Enter similarities to claims and queries."""
        arrays, episodes = self.arrays, new.episodes
        own = arrays["features"][episodes][..., self._layout.slice("embedding")]
        near = np.matmul(own, vectors[..., None])[..., 0]  # (n, L)
        earlier = self.claim(np.arange(self.budget))[None] < claims[:, None]
        near[:, -2 - self.budget : -2] = np.where(earlier, near[:, -2 - self.budget : -2], ABSENT)
        near[:, -2:] = ABSENT
        arrays["between"][episodes, claims] = near
        arrays["between"][episodes, :, claims] = near
        asked = arrays["queries"][episodes][..., self._layout.slice("embedding", "queries")]
        arrays["asked"][episodes, :, claims] = np.matmul(asked, vectors[..., None])[..., 0]

    def _describe(
        self,
        new: Injections,
        claims: IntArray,
        templates: IntArray,
        vectors: NDArray[np.float32],
    ) -> None:
        """Enter what can be observed of the false claims, and of real ones that come later."""
        arrays, episodes = self.arrays, new.episodes
        features, tags = arrays["features"], arrays["tags"]
        columns = self._layout.claim.slices
        never = sentinels(self._layout.limits)[1]
        rows = features[episodes, templates]
        real = np.arange(never + 1) < (self.claims[episodes] - self.budget)[:, None]
        host = np.where(new.following == never, new.current, new.following)
        here, label = features[episodes, host], tags[episodes, host]
        same_source = tags[episodes, :, SOURCE] == new.source[:, None]
        groups, group = tags[episodes, :, GROUP_LABEL], label[:, GROUP_LABEL]
        # A claim of no group has a label of its own, and all of them count as one group.
        alone = group > never
        same_group = np.where(alone[:, None], groups > never, groups == group[:, None])
        heard = same_source & new.read
        rows[:, columns["embedding"]] = vectors
        told = np.r_[columns["confidence"], columns["cues"]]  # together, as a real claim has them
        chance = uniforms(new.keys, VOICE, new.place)
        heard_as = voices(features[episodes][..., told], real, new.level, chance)
        rows[:, told] = features[episodes, heard_as][:, told]
        count = heard.sum(axis=1)
        cues = features[episodes][..., columns["cues"]]
        total = (cues * heard[..., None]).sum(axis=1) + rows[:, columns["cues"]]
        read_before = np.where(new.read, arrays["between"][episodes, claims], -np.inf)
        values = {
            "time": here[:, columns["time"].start],
            "place": np.log1p((same_group & new.read).sum(axis=1)),
            "source": new.source - 1,
            "source_claims": np.log1p(count + 1),
            "previous_similarity": arrays["between"][episodes, claims, new.current],
            "earlier_similarity": read_before.max(axis=1),
        }
        rows[:, columns["source_cues"]] = total / (count + 1)[:, None]
        for name, value in values.items():
            rows[:, columns[name].start] = value
        features[episodes, claims] = rows
        speaker = (same_source & real).argmax(axis=1)
        tags[episodes, claims, CLAIM] = claims
        tags[episodes, claims, SOURCE_LABEL] = tags[episodes, speaker, SOURCE_LABEL]
        tags[episodes, claims, GROUP_LABEL] = np.where(alone, never + 1 + claims, group)
        tags[episodes, claims, SOURCE] = new.source
        arrays["bits"][episodes, claims] = STORED
        arrays["truth"][episodes, claims] = 0.0
        arrays["cost"][episodes, claims] = arrays["cost"][episodes, templates]
        self._tell_later(new, claims, real & ~new.read, same_source, same_group)
        following = new.following != never
        chosen = episodes[following], new.following[following]
        features[(*chosen, columns["previous_similarity"].start)] = arrays["between"][
            episodes[following], claims[following], new.following[following]
        ]

    def _tell_later(
        self,
        new: Injections,
        claims: IntArray,
        later: BoolArray,
        same_source: BoolArray,
        same_group: BoolArray,
    ) -> None:
        """Let real claims that are yet to be read count the false ones as read before them."""
        features, columns, episodes = (
            self.arrays["features"],
            self._layout.claim.slices,
            new.episodes,
        )
        rows = features[episodes]  # (n, L, width), a copy
        spoken, placed = later & same_source, later & same_group
        column = columns["source_claims"].start
        before = np.expm1(rows[..., column])  # this claim among them
        own = rows[np.arange(len(claims)), claims][:, None, columns["cues"]]
        mean = rows[..., columns["source_cues"]]
        grown = (mean * before[..., None] + own) / (before[..., None] + 1)
        rows[..., columns["source_cues"]] = np.where(spoken[..., None], grown, mean)
        rows[..., column] = np.where(spoken, np.log1p(before + 1), rows[..., column])
        column = columns["place"].start
        moved = np.log1p(np.expm1(rows[..., column]) + 1)
        rows[..., column] = np.where(placed, moved, rows[..., column])
        column = columns["earlier_similarity"].start
        near = self.arrays["between"][episodes, claims]
        rows[..., column] = np.where(later, np.maximum(rows[..., column], near), rows[..., column])
        features[episodes] = rows

    def _answer(self, episode: int, claim: int, place: int, answered: IntArray) -> None:
        """Let a false claim answer queries: to each it is a way like any other, and false."""
        arrays, always = self.arrays, sentinels(self._layout.limits)[0]
        item = 10**6 + place  # unlike any of the material's
        for query in answered.tolist():
            near = round(float(arrays["asked"][episode, query, claim]), DECIMALS)
            closeness = self._closeness[episode, query]
            at = int((closeness >= near).sum())
            for name in ("supports", "conflicts", "items"):
                row = arrays[name][episode, query]
                row[..., at + 1 :] = row[..., at:-1].copy()
            closeness[at + 1 :] = closeness[at:-1].copy()
            closeness[at] = near
            arrays["supports"][episode, query, :, at] = always
            arrays["supports"][episode, query, 0, at] = claim
            arrays["conflicts"][episode, query, :, at] = sentinels(self._layout.limits)[1]
            arrays["items"][episode, query, at] = item
            way = int(self._ways[episode])
            arrays["all_supports"][episode, 0, :, way] = always
            arrays["all_supports"][episode, 0, 0, way] = claim
            arrays["all_queries"][episode, 0, way] = query
            self._ways[episode] += 1
