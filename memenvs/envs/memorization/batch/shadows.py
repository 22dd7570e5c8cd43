"""Episodes that are played beside a batch, so that they can be rendered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.batch.buffers import Part
from memenvs.envs.memorization.episode import Episode
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.render.renderer import Renderer, RenderMode
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.material.incidence import IntArray


class Shadows:
    """The scalar episodes of a batch, only where there is a render mode."""

    def __init__(
        self,
        mode: RenderMode | None,
        rules: Rules,
        actions: Actions,
        layout: Layout,
        episodes: int,
    ) -> None:
        if mode == "human":
            raise ValueError("render_mode='human' shows one episode; use gym.make() for it")
        self._renderer = Renderer(mode)
        self._parts = rules, actions, layout
        self._episodes: list[Episode | None] = [None] * episodes

    def begin(
        self,
        part: Part,
        keys: NDArray[np.uint64],
        bank: Bank,
        rows: IntArray,
        materials: Materials,
    ) -> None:
        """Begin the same episodes."""
        if self._renderer.mode is None:
            return
        rules, actions, layout = self._parts
        for number, key, row in zip(part.numbers.tolist(), keys, rows.tolist(), strict=True):
            prepared = materials.prepare(bank.material(row), layout)
            self._episodes[number] = Episode(rules, actions, layout, prepared, key)

    def decide(self, part: Part, actions: NDArray[Any]) -> None:
        """Take the same decisions."""
        if self._renderer.mode is None:
            return
        for number in part.numbers.tolist():
            episode = self._episodes[number]
            assert episode is not None
            episode.decide(actions[number])

    def render(self) -> tuple[Any, ...]:
        """Give a frame of every episode."""
        return tuple(self._renderer.render(e) for e in self._episodes if e is not None)
