"""The poisoning environment for a batch of episodes, stepped in array operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from memenvs.envs.arguments import refuse_first
from memenvs.envs.family import POISONING
from memenvs.envs.poisoning.poisoning_env import BUDGET, PoisoningEnv, action_name
from memenvs.envs.poisoning.rounds import Rounds
from memenvs.envs.rows import Rows
from memenvs.envs.vector import BatchEnv, Observation
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.poisoning import Scenario


class PoisoningVectorEnv(BatchEnv):
    """``num_envs`` episodes of ``PoisoningEnv``, each as the scalar environment plays it.

    Args:
        num_envs, autoreset_mode, max_episode_steps, render_mode, copy: as for ``BatchEnv``.
        split, budget, price, strict: as for ``PoisoningEnv``.

    ``reset`` is that of ``BatchEnv``; the option ``"scenario"`` is one for all, or a sequence of
    one for each.
    """

    family = POISONING

    def __init__(
        self,
        *,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        copy: bool = True,
        split: str = "train",
        budget: int = BUDGET,
        price: float = 0.0,
        strict: bool = False,
    ) -> None:
        single = PoisoningEnv(split=split, budget=budget, price=price, strict=strict)
        super().__init__(
            single,
            num_envs=num_envs,
            autoreset_mode=autoreset_mode,
            max_episode_steps=max_episode_steps,
            render_mode=render_mode,
            copy=copy,
        )
        self.layout, self.strict = single.layout, strict
        self._rounds = Rounds(split, budget, price, num_envs)

    @property
    def illegal(self) -> IntArray:
        """Illegal actions of each episode so far: ``(num_envs,)``."""
        return self._rounds.illegal

    def action_masks(self) -> BoolArray:
        """Legal actions ``(num_envs, 1 + E)``; never all False."""
        self.check_begun()
        return self._rounds.masks()

    def true_answers(self) -> BoolArray:
        """Entries that answer the prompt's question truly ``(num_envs, E)``; for oracles alone."""
        self.check_begun()
        return self._rounds.true_answers()

    def check_instance(self, given: Any) -> Scenario:
        """Give a scenario that fits, or the one of that number."""
        return self._rounds.check_scenario(given)

    def begin(self, rows: Rows, keys: NDArray[np.uint64], wanted: Sequence[Any] | None) -> None:
        """Begin episodes at their first prompts, with empty contexts."""
        self._rounds.begin(rows.numbers, keys, [None] * rows.size if wanted is None else wanted)

    def act(self, rows: Rows, actions: NDArray[Any]) -> FloatArray:
        """Put an entry into some contexts, or close them."""
        rounds, chosen = self._rounds, actions.astype(np.int64)
        if self.strict:
            masks = rounds.masks()[rows.at]
            inside = (chosen >= 0) & (chosen < masks.shape[1])
            legal = inside & masks[np.arange(rows.size), np.where(inside, chosen, 0)]
            refuse_first(rows, legal, lambda place: action_name(int(chosen[place])))
        return rounds.step(rows.numbers, chosen)

    def over(self) -> tuple[BoolArray, None]:
        """Say where every prompt is closed."""
        return self._rounds.is_over(), None

    def observe(self, rows: Rows, *, reuse: bool = False) -> Observation:
        """Give the observations of some episodes."""
        seen = self._rounds.observe()
        return seen if rows.size == self.num_envs else {k: a[rows.at] for k, a in seen.items()}

    def finals(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """What the prompts closed so far come to: ``(n,)`` each."""
        return self._rounds.finals(rows.numbers)

    def frame(self, row: int) -> str:
        """Give an episode as text."""
        return self._rounds.describe(row)
