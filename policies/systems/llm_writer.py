"""A language model that writes: it reads each decision as a text and answers with an action."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.policies.base import Observation, Policy, State, privileged
from memenvs.policies.systems.text_writing import (
    asked_of,
    check_writable,
    describe,
    instruction,
    read_action,
)
from memenvs.text.chat import Chat, configured_chat


class LLMWriter(Policy):
    """Asks a model on an OpenAI-compatible server what to do with each claim.

    ``chat`` is by default that of ``MEMENVS_WRITER_URL``, ``_MODEL`` and ``_KEY``. It sees the
    wordings in view, their records and the queries that were disclosed. A reply that is no legal
    action is a pass, and is counted. Raises ``ServerError`` where no server is configured, or it
    does not answer.
    """

    def __init__(self, env: Any, seed: int = 0, *, chat: Chat | None = None) -> None:
        super().__init__(env, seed)
        check_writable(self.rules, self.layout, "the policy 'llm-writer'")
        self.chat = configured_chat("writer") if chat is None else chat
        self.invalid = 0  # replies that were passes for want of a legal action
        self._env = env

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Ask about each episode."""
        actions = np.zeros(len(masks), dtype=np.int64)
        asked = asked_of(self._env)
        for place, (view, mask) in enumerate(zip(privileged(self._env), masks, strict=True)):
            if view.considered is None:
                continue
            rows = {name: array[place] for name, array in observation.items()}
            text = describe(view, rows, self.layout, asked)
            reply = self.chat.text(f"{instruction(self.rules, self.actions)}\n\n{text}")
            actions[place], problem = read_action(reply, self.actions, view.slots, mask)
            self.invalid += bool(problem)
        return actions, state

    def remark(self) -> str:
        """Say what it cost."""
        return f"{self.chat.usage}; {self.invalid} replies were no legal action and passed"
