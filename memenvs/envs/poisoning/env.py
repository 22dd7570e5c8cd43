"""The poisoning environment: choose what enters the context of an agent whose history misleads.

State: the entries recorded so far, the question of the prompt, and the context chosen up to now.
Action: put a recorded entry into the context, or stop; then a simulated reasoner answers from it.
Reward: +1 for a true answer of a critical prompt, -1 for a compromised one, less a price for each
token that entered a context. Episode: a scenario of a split, its prompts in order.
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from memenvs.counter import episode_key
from memenvs.envs.family import POISONING
from memenvs.envs.poisoning.layout import LAYOUT
from memenvs.envs.poisoning.rounds import Rounds
from memenvs.material.incidence import BoolArray
from memenvs.materials.poisoning import Scenario
from memenvs.materials.poisoning.sets import MAX_ENTRIES

Observation = dict[str, Any]
BUDGET = 120
ROW = np.zeros(1, dtype=np.int64)


class PoisoningEnv(gym.Env[Observation, Any]):
    """Choose the entries of each context, under a budget of tokens.

    Args:
        split: ``"train"`` (default), ``"validation"`` or ``"test"``: scenarios to draw from.
        budget: tokens of entries that a context holds at most.
        price: what a hundred tokens cost of the reward.
        strict: raise ``ValueError`` on an illegal action instead of counting it as a stop.

    Action 0 stops, action 1 + n puts entry n into the context; entries stand in it in the order in
    which they were recorded. ``reset(options={"scenario": scenario})`` plays a given scenario, or
    the one of that number. At the end ``info`` holds accuracy and attack_success_rate over the
    critical prompts, poison_retrieval_rate, blast_radius, prompt_tokens (of entries, a prompt),
    utility (accuracy less attack success) and settled (the summed reward).
    """

    family = POISONING
    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's declaration
    final_info = frozenset({"accuracy", "attack_success_rate", "prompt_tokens", "settled"})

    def __init__(
        self,
        *,
        split: str = "train",
        budget: int = BUDGET,
        price: float = 0.0,
        strict: bool = False,
        render_mode: None = None,
    ) -> None:
        check_settings(budget, price)
        self.render_mode = render_mode
        self.layout = LAYOUT
        self.strict = strict
        self.action_space = spaces.Discrete(1 + MAX_ENTRIES)
        self.observation_space = LAYOUT.space()
        self._rounds = Rounds(split, budget, price, 1)
        self._begun = False

    @property
    def scenario(self) -> Scenario:
        """The episode's scenario; for oracles and evaluation, not for policies."""
        scenario = self._running.playing[0]
        assert scenario is not None
        return scenario

    @property
    def memory(self) -> BoolArray:
        """Which entries the context holds: ``(E,)``."""
        held: BoolArray = self._running.chosen[0]
        return held

    @property
    def prompt(self) -> int:
        """Number of the prompt whose context is chosen."""
        return int(self._running.prompt[0])

    def action_masks(self) -> BoolArray:
        """Legal actions ``(1 + E,)``; never all False."""
        mask: BoolArray = self._running.masks()[0]
        return mask

    def true_answers(self) -> BoolArray:
        """Entries that answer the prompt's question truly ``(1, E)``; for oracles alone."""
        return self._running.true_answers()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode at the first prompt, with an empty context."""
        super().reset(seed=seed)
        key = episode_key(self.np_random)
        given = (options or {}).get("scenario")
        self._rounds.begin(ROW, np.array([key]), [given])
        self._begun = True
        return self._outcome()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Put one entry into the context, or stop and let the reasoner answer."""
        rounds = self._running
        if rounds.is_over()[0]:
            raise RuntimeError("the episode is over; call reset()")
        number = int(action)
        if self.strict:
            refuse_illegal(number, rounds.masks()[0])
        reward = float(rounds.step(ROW, np.array([number]))[0])
        observation, info = self._outcome()
        over = bool(rounds.is_over()[0])
        if over:
            info |= {name: array[0].item() for name, array in rounds.finals(ROW).items()}
        return observation, reward, over, False, info

    @property
    def _running(self) -> Rounds:
        if not self._begun:
            raise RuntimeError("no episode has begun; call reset()")
        return self._rounds

    def _outcome(self) -> tuple[Observation, dict[str, Any]]:
        observation = {name: array[0] for name, array in self._rounds.observe().items()}
        mask = observation["action_mask"].copy()
        return observation, {"action_mask": mask, "illegal_action": int(self._rounds.illegal[0])}


def check_settings(budget: int, price: float) -> None:
    """Raise ``ValueError`` for a budget or a price that cannot be."""
    if int(budget) != budget or budget < 1:
        raise ValueError(f"budget={budget!r} is not a positive integer")
    if not (math.isfinite(price) and price >= 0):
        raise ValueError(f"price={price!r} is not a number of 0 or more")


def refuse_illegal(action: int, mask: BoolArray) -> None:
    """Raise ``ValueError`` for an action that is not legal."""
    if not 0 <= action < len(mask):
        raise ValueError(f"action {action} (there are {len(mask)}) is illegal here")
    if not mask[action]:
        raise ValueError(
            f"action {action} (entry {action - 1}) is illegal here; the legal ones stand in "
            "action_masks()"
        )
