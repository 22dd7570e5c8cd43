"""Episodes that are played beside a batch, so that they can be rendered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.batch.bank import Bank
from memenvs.envs.memorization.episode import Episode
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.prepared import Materials
from memenvs.envs.memorization.render.renderer import Renderer, RenderMode
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.envs.rows import Rows
from memenvs.material.incidence import IntArray


class Rendered:
    """The scalar episodes of a batch, only where there is a render mode."""

    def __init__(
        self,
        mode: RenderMode | None,
        rules: Rules,
        actions: Actions,
        layout: Layout,
        episodes: int,
    ) -> None:
        self._renderer = Renderer(mode)
        self._parts = rules, actions, layout
        self._episodes: list[Episode | None] = [None] * episodes

    def begin(
        self,
        part: Rows,
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

    def decide(self, part: Rows, actions: NDArray[Any]) -> None:
        """Take the same decisions: ``actions`` ``(n, ...)``."""
        if self._renderer.mode is None:
            return
        for number, action in zip(part.numbers.tolist(), actions, strict=True):
            self._episode(number).decide(action)

    def frame(self, number: int) -> Any:
        """Render an episode."""
        return self._renderer.render(self._episode(number))

    def _episode(self, number: int) -> Episode:
        episode = self._episodes[number]
        assert episode is not None
        return episode
