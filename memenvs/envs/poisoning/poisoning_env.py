"""The poisoning environment: choose what enters the context of an agent whose history misleads.

State: the entries recorded so far, the question of the prompt, and the context chosen up to now.
Action: put a recorded entry into the context, or stop; then a simulated reasoner answers from it.
Reward: +1 for a true answer of a critical prompt, -1 for a compromised one, less a price for each
token that entered a context. Episode: a scenario of a split, its prompts in order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from memenvs.envs.arguments import check_counts, refusal
from memenvs.envs.family import POISONING
from memenvs.envs.poisoning.layout import LAYOUT
from memenvs.envs.poisoning.rounds import Rounds
from memenvs.envs.single import Observation, SingleEnv
from memenvs.material.incidence import BoolArray
from memenvs.materials.poisoning import Scenario
from memenvs.materials.poisoning.sets import MAX_ENTRIES

BUDGET = 120
ROW = np.zeros(1, dtype=np.int64)


class PoisoningEnv(SingleEnv):
    """Choose the entries of each context, under a budget of tokens.

    Args:
        split: ``"train"`` (default), ``"validation"`` or ``"test"``: scenarios to draw from.
        budget: tokens of entries that a context holds at most.
        price: what a hundred tokens cost of the reward.
        strict: raise ``ValueError`` on an illegal action instead of counting it as a stop.
        render_mode: ``"ansi"`` gives the prompt and the entries as text.

    Action 0 stops, action 1 + n puts entry n into the context; entries stand in it in the order in
    which they were recorded. ``reset(options={"scenario": scenario})`` plays a given scenario, or
    the one of that number. At the end ``info`` holds accuracy and attack_success_rate over the
    critical prompts, poison_retrieval_rate, blast_radius, prompt_tokens (of entries, a prompt),
    utility (accuracy less attack success) and settled (the summed reward); before it they are zero,
    and ``info["final"]`` is False.
    """

    family = POISONING
    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's declaration
        "render_modes": ["ansi"],
        "render_fps": 2,
    }

    def __init__(
        self,
        *,
        split: str = "train",
        budget: int = BUDGET,
        price: float = 0.0,
        strict: bool = False,
        render_mode: str | None = None,
    ) -> None:
        check_settings(budget, price)
        self.open(render_mode)
        self.layout = LAYOUT
        self.strict = strict
        self.action_space = spaces.Discrete(1 + MAX_ENTRIES)
        self.observation_space = LAYOUT.space()
        self._rounds = Rounds(split, budget, price, 1)

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

    @property
    def illegal(self) -> int:
        """Illegal actions of the episode so far."""
        return int(self._rounds.illegal[0])

    def check_instance(self, given: Any) -> Scenario:
        """Give a scenario that fits, or the one of that number."""
        return self._rounds.check_scenario(given)

    def begin(self, key: np.uint64, wanted: Scenario | None) -> None:
        """Begin an episode at the first prompt, with an empty context."""
        self._rounds.begin(ROW, np.array([key]), [wanted])

    def act(self, action: Any) -> float:
        """Put one entry into the context, or stop and let the reasoner answer."""
        number, rounds = int(action), self._rounds
        mask = rounds.masks()[0]
        if self.strict and not (0 <= number < len(mask) and mask[number]):
            raise ValueError(refusal(action_name(number)))
        return float(rounds.step(ROW, np.array([number]))[0])

    def over(self) -> tuple[bool, bool]:
        """Say whether every prompt is closed."""
        return bool(self._rounds.is_over()[0]), False

    def observe(self) -> Observation:
        """Give what the layout describes, and the mask."""
        return {name: array[0] for name, array in self._rounds.observe().items()}

    def finals(self) -> dict[str, Any]:
        """What the prompts closed so far come to."""
        return {name: array[0].item() for name, array in self._rounds.finals(ROW).items()}

    def frame(self) -> str:
        """Give the prompt and the entries as text."""
        return self._rounds.describe(0)

    @property
    def _running(self) -> Rounds:
        self.check_begun()
        return self._rounds


def check_settings(budget: int, price: float) -> None:
    """Raise ``ValueError`` for a budget or a price that cannot be."""
    check_counts(budget=budget)
    if not (math.isfinite(price) and price >= 0):
        raise ValueError(f"price={price!r} is not a number of 0 or more")


def action_name(action: int) -> str:
    """Describe an action in words."""
    if not 0 <= action <= MAX_ENTRIES:
        return f"action {action} (there are {1 + MAX_ENTRIES})"
    return f"action {action} ({'stop' if action == 0 else f'entry {action - 1}'})"
