"""The bank: compiled arrays of many materials, stacked, filled as materials are first drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.compiled import WAYS, Arrays, blank_ways, compile_material
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.rules import Disclosure
from memenvs.material.incidence import BoolArray, IntArray
from memenvs.material.material import Material

BYTES = 1 << 28  # what the arrays of all materials of all environments in a process may take

Wanted = int | Material  # the number of a material that is fixed beforehand, or a given one
Found = TypeVar("Found")

_LIVE: WeakSet[Bank] = WeakSet()


class Bank:
    """One row a material in each of ``arrays`` (rows, ...); a row in use is never given away.

    All banks of a process share ``BYTES``; each may take what one row for each of its ``episodes``
    takes.
    """

    def __init__(
        self, materials: Materials, layout: Layout, disclosure: Disclosure, episodes: int
    ) -> None:
        self.arrays: Arrays = {}
        self.claims: IntArray = np.zeros(0, dtype=np.int64)  # (rows,) of each material
        self.certain: BoolArray = np.zeros(0, dtype=bool)  # (rows,) whether truths are 0 or 1
        self.numbers: list[int] = []  # of what was prepared for each row
        self._materials = materials
        self._layout = layout
        self._disclosure = disclosure
        self._episodes = episodes
        self._held: list[Wanted] = []  # what stands in each row
        self._row_of: IntArray = np.full(len(materials.fixed), -1)  # of each number
        self._given: dict[int, int] = {}  # row of each given material, by its id
        self._hand = self._row = 0  # next row to be given away; bytes of one
        _LIVE.add(self)
        self._worked: dict[int, Any] = {}  # what was worked out, by row

    def draw(
        self,
        keys: NDArray[np.uint64],
        busy: IntArray,
        wanted: Sequence[Wanted | None] | None = None,
    ) -> IntArray:
        """Give the row of each episode's material: the ``wanted`` one, else drawn by its key.

        ``busy`` rows stay as they are.
        """
        if wanted is not None:
            pairs = zip(wanted, keys, strict=True)
            return self.give([self._drawn(k) if w is None else w for w, k in pairs], busy)
        numbers = self._materials.numbers(keys)
        if numbers is None:
            return self.give([self._materials.draw(key) for key in keys], busy)
        rows: IntArray = self._row_of[numbers]
        return rows if (rows >= 0).all() else self.give(numbers.tolist(), busy)

    def give(self, wanted: Sequence[Wanted], busy: IntArray) -> IntArray:
        """Give the rows of materials, and load those that are not there."""
        rows = [self._find(each) for each in wanted]
        taken = {*busy.tolist(), *rows}
        for place, each in enumerate(wanted):
            if rows[place] < 0:
                found = self._find(each)  # it may stand twice in what is wanted
                rows[place] = found if found >= 0 else self._load(each, taken)
                taken.add(rows[place])
        return np.array(rows)

    def material(self, row: int) -> Material:
        """Give the material of a row."""
        held = self._held[row]
        return held if isinstance(held, Material) else self._materials[held]

    def worked_out(self, row: int, work: Callable[[Material], Found]) -> Found:
        """Give what a game works out of the material of a row, once; it goes with the material."""
        if row not in self._worked:
            self._worked[row] = work(self.material(row))
        found: Found = self._worked[row]
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Leave out empty rows, and ids, which mean nothing elsewhere."""
        held = len(self._held)
        arrays = {name: stack[:held] for name, stack in self.arrays.items()}
        return self.__dict__ | {"arrays": arrays, "_given": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Give the empty rows back."""
        self.__dict__ |= state
        _LIVE.add(self)
        for name, filled in self.arrays.items():
            stack = np.empty((len(self.claims), *filled.shape[1:]), dtype=filled.dtype)
            stack[: len(filled)] = filled
            self.arrays[name] = stack

    def _drawn(self, key: np.uint64) -> Wanted:
        number = self._materials.numbers(key)
        return self._materials.draw(key) if number is None else int(number)

    def _find(self, wanted: Wanted) -> int:
        if isinstance(wanted, Material):
            return self._given.get(id(wanted), -1)
        return int(self._row_of[wanted])

    def _load(self, wanted: Wanted, taken: set[int]) -> int:
        material = wanted if isinstance(wanted, Material) else self._materials[wanted]
        prepared = self._materials.prepare(material, self._layout)
        compiled = compile_material(prepared, self._layout, self._disclosure)
        self._make_room(compiled)
        row = self._free_row(taken)
        for name, array in compiled.items():
            stack = self.arrays[name]
            if name in WAYS:
                stack[row] = blank_ways(name, stack.shape[1:], self._layout.limits)
                stack[row][_corner(array.shape)] = array
            else:
                stack[row] = array
        self._worked.pop(row, None)
        self.claims[row] = len(material.claims)
        self.certain[row] = material.incidence.certain
        self.numbers[row] = prepared.number
        self._held[row] = wanted
        if isinstance(wanted, Material):
            self._given[id(wanted)] = row  # what is held keeps its id
        else:
            self._row_of[wanted] = row
        return row

    @property
    def used(self) -> int:
        """Bytes of the rows in use."""
        return self._row * len(self._held)

    def _free_row(self, taken: set[int]) -> int:
        """Find an empty row, or the next that nobody uses, whose material has to go."""
        rows = len(self._held)
        room = rows <= len(taken) or sum(each.used for each in _LIVE) + self._row <= BYTES
        if rows < len(self.claims) and room:
            self._held.append(0)
            self.numbers.append(0)
            return rows
        while self._hand % rows in taken:
            self._hand += 1
        row = self._hand % rows
        self._hand += 1
        leaving = self._held[row]
        if isinstance(leaving, Material):
            self._given = {known: at for known, at in self._given.items() if at != row}
        else:
            self._row_of[leaving] = -1
        return row

    def _make_room(self, compiled: Arrays) -> None:
        """Allocate the stacks, or widen those of the ways to answer."""
        shapes = {name: self._shape(name, array.shape) for name, array in compiled.items()}
        if self.arrays and all(self.arrays[n].shape[1:] == shape for n, shape in shapes.items()):
            return
        size = sum(int(np.prod(shapes[name])) * compiled[name].itemsize for name in shapes)
        self._row = size
        held, wanted = len(self._held), len(self._row_of) + self._episodes
        rows = max(min(BYTES // size, wanted), self._episodes, held)
        for name, shape in shapes.items():
            old = self.arrays.get(name)
            if old is not None and old.shape == (rows, *shape):
                continue
            stack = np.empty((rows, *shape), dtype=compiled[name].dtype)  # memory comes with use
            if old is not None:
                if name in WAYS:
                    stack[:held] = blank_ways(name, shape, self._layout.limits)
                stack[:held][(slice(None), *_corner(old.shape[1:]))] = old[:held]
            self.arrays[name] = stack
        more = max(rows - len(self.claims), 0)
        self.claims = np.append(self.claims, np.zeros(more, dtype=np.int64))[:rows]
        self.certain = np.append(self.certain, np.ones(more, dtype=bool))[:rows]

    def _shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        old = self.arrays.get(name)
        return shape if old is None else tuple(map(max, old.shape[1:], shape))


def _corner(shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(size) for size in shape)
