"""Plays what gives priorities where slots are written: the memory is that of the S highest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import IntArray
from memenvs.policies.base import Observation, Policy, State
from memenvs.policies.learned.models import Interface

NEVER = -1
OWN = 2  # arrays of a state that are not the inner policy's: priorities, decisions


class PrioritySlots(Policy):
    """Keep the claims of highest priority, exactly as ``action="priority"`` keeps them.

    The claim goes into the first free slot, or else in the place of the lowest one, if that is
    lower; of equal ones the one that was written first goes. The state holds the priority of each
    slot's claim ``(B, S)``, and the decision by which it was written; then that of the policy that
    ``build`` makes, which sees what an environment of priorities would show. It is for memories
    without a budget, under which a claim may take the place of several; raises ``ValueError`` where
    others write, too.
    """

    def __init__(self, env: Any, seed: int, build: Callable[[Interface], Policy]) -> None:
        super().__init__(env, seed)
        layout = replace(self.layout, priority=True)
        rules = replace(self.rules, action="priority")
        self._given = layout.index("priority")
        self._valid = layout.index("valid")
        self._inner = build(Interface(layout, rules, self.actions))

    def start(self, episodes: IntArray) -> State:
        """Begin with an empty memory."""
        shape = len(episodes), self.rules.capacity
        given, written = np.zeros(shape, dtype=np.float32), np.full(shape, NEVER)
        return (given, written, *self._inner.start(episodes))

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Let the claim be given a priority, and write it where that is high enough."""
        given, written = state[0].copy(), state[1].copy()
        held = written != NEVER
        if (held != (observation["memory"][..., self._valid] == 1)).any():
            raise ValueError(
                "the memory holds other claims than this model wrote, and knows no priorities of "
                "them; share it by action='priority'"
            )
        asked, after = self._inner.act(
            self._shown(observation, given), np.ones((len(masks), 1), dtype=bool), state[OWN:]
        )
        priority = np.clip(asked[:, 0], -1.0, 1.0).astype(np.float32)
        rows = np.arange(len(priority))
        # Free slots come first, then the lowest; of equal ones the one written first.
        first = np.where(held, given, -np.inf)
        first = np.where(first == first.min(axis=1, keepdims=True), written, written.max() + 1)
        slot = first.argmin(axis=1)
        writes = ~held[rows, slot] | (given[rows, slot] < priority)
        writer = rows[writes], slot[writes]
        given[writer] = priority[writes]
        written[writer] = written.max(axis=1)[writes] + 1
        actions = np.where(writes, self.actions.first_write + slot, self.actions.PASS)
        return actions, (given, written, *after)

    def _shown(self, observation: Observation, given: NDArray[np.float32]) -> Observation:
        """What the environment would show if it kept the priorities itself."""
        memory = np.insert(observation["memory"], [self._given], given[..., None], axis=-1)
        shown = {name: array for name, array in observation.items() if name != "action_mask"}
        return {**shown, "memory": memory}
