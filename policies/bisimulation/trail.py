"""One episode's way through a memory: what the wrappers and the policy share."""

from __future__ import annotations

from collections.abc import Sequence

from memenvs.counter import uniforms
from memenvs.policies.bisimulation.adapter import Endings, Look
from memenvs.policies.bisimulation.memory import TransitionMemory
from memenvs.policies.bisimulation.pooling import Evidence

DETOUR, PLACE = 11, 12  # streams of chance


class Trail:
    """Ask a memory at the page that is shown, and record the step that was taken there."""

    def __init__(self, memory: TransitionMemory, look: Look) -> None:
        self.memory = memory
        self.look = look
        self.earned = 0.0
        self.steps = 0
        self._stuck: dict[int, set[int]] = {}  # by page: what left it as it was
        memory.begin(look.signature, look.label, look.elements)

    def evidence(self, actions: Sequence[int]) -> Evidence:
        """Give what the page's block says of actions."""
        named, stuck = self.look.named(actions), self._stuck.get(self.look.signature, ())
        return self.memory.evidence(self.look.signature, named, stuck)

    def rerank(self, shortlist: Sequence[int]) -> int:
        """Give the place of the best action in a shortlist."""
        named, stuck = self.look.named(shortlist), self._stuck.get(self.look.signature, ())
        return self.memory.rerank(self.look.signature, named, stuck)

    def follow(self, action: int, look: Look, reward: float) -> None:
        """Record a step to another page; of an action without a name, the page alone."""
        if not self.look.names(action):
            self.memory.add_page(look.signature, look.label, look.elements)
            self.earned, self.steps, self.look = self.earned + reward, self.steps + 1, look
            return
        template, before = self.look.templates[action], self.look
        self.earned += reward
        self.steps += 1
        self.look = look
        if look.signature == before.signature:
            self._stuck.setdefault(look.signature, set()).add(template)
        self.memory.record(
            before.signature,
            template,
            look.signature,
            look.label,
            reward,
            False,
            next_elements=look.elements,
        )

    def end(self, action: int, reward: float, endings: Endings, *, terminated: bool) -> None:
        """Record the last step."""
        self.earned += reward
        self.steps += 1
        self.close(action, endings.role(self.earned, self.steps, terminated))

    def close(self, action: int, role: int) -> None:
        """Record that the last step led to the terminal of a role, if the step had a name."""
        if not self.look.names(action):
            return
        template = self.look.templates[action]
        self.memory.record(self.look.signature, template, 0, 0, 0.0, True, role)


def detour(seed: int, step: int, choices: int, rate: float) -> int:
    """Draw a place in a shortlist: 0, but with chance ``rate`` one of the others, all alike.

    It depends on the environment's seed and the step alone, so that every system takes the same.
    """
    if choices < 2 or uniforms(seed, DETOUR, step) >= rate:
        return 0
    return 1 + int(uniforms(seed, PLACE, step) * (choices - 1))
