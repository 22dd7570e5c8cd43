"""The observation as one row of numbers whose columns have names."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.columns import CUE_COLUMNS
from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import BoolArray
from memenvs.wrappers.episodes import check_memorization

ADDED = ("oracle_columns", "tree_columns")  # where wrappers name the columns of their arrays


class FlattenWithColumns(
    gym.ObservationWrapper[NDArray[np.float32], Any, dict[str, Any]],
    gym.utils.RecordConstructorArgs,
):
    """Lay the arrays of an observation side by side: one ``Box`` ``(n,)`` of float32.

    ``columns`` (n names) says what each number is: ``"claim.confidence"``,
    ``"memory[2].embedding[0]"``, ``"claims[4].cues.importance"``, ``"context.free_slots"``. The
    mask is left out; it stays in ``action_masks()`` and in ``info["action_mask"]``.
    """

    def __init__(self, env: gym.Env[dict[str, Any], Any]) -> None:
        check_memorization(env, "FlattenWithColumns")
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        arrays = env.observation_space
        assert isinstance(arrays, spaces.Dict)
        boxes = {n: box for n, box in arrays.spaces.items() if isinstance(box, spaces.Box)}
        self._arrays = tuple(boxes)
        self.columns: tuple[str, ...] = tuple(
            name for array, box in boxes.items() for name in self._names(array, box)
        )
        self.observation_space = spaces.Box(
            np.concatenate([box.low.ravel() for box in boxes.values()]),
            np.concatenate([box.high.ravel() for box in boxes.values()]),
        )

    def observation(self, observation: dict[str, Any]) -> NDArray[np.float32]:
        """Flatten one observation."""
        return np.concatenate([observation[array].ravel() for array in self._arrays])

    def action_masks(self) -> BoolArray:
        """Legal actions ``(n,)``."""
        masks: BoolArray = self.env.get_wrapper_attr("action_masks")()
        return masks

    def _names(self, array: str, box: spaces.Box) -> list[str]:
        row = self._row(array)
        if len(box.shape) == 1:
            return [f"{array}.{column}" for column in row]
        return [f"{array}[{place}].{column}" for place in range(box.shape[0]) for column in row]

    def _row(self, array: str) -> list[str]:
        """Name the columns of one row of an array."""
        layout: Layout = self.get_wrapper_attr("layout")
        if array not in ("claim", "claims", "memory", "queries", "context"):
            return list(self._added(array))
        names: list[str] = []
        for name, place in getattr(layout, {"claims": "claim"}.get(array, array)).slices.items():
            if name in CUE_COLUMNS:
                names += [f"{name}.{cue}" for cue in layout.limits.cues]
            elif name == "embedding":
                names += [f"embedding[{number}]" for number in range(place.stop - place.start)]
            else:
                names.append(name)
        return names

    def _added(self, array: str) -> tuple[str, ...]:
        """Name the columns of an array that a wrapper adds."""
        tables = [self.get_wrapper_attr(name) for name in ADDED if self.has_wrapper_attr(name)]
        named: tuple[str, ...] = next(table[array] for table in tables if array in table)
        return named
