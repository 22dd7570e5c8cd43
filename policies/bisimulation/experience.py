"""One episode kept aside, to be recorded once it is known which earnings are a success."""

from __future__ import annotations

from dataclasses import dataclass, field

from memenvs.policies.bisimulation.adapter import Look
from memenvs.policies.bisimulation.memory import TransitionMemory
from memenvs.policies.bisimulation.trail import Trail


@dataclass
class Experience:
    """The looks and actions of an episode, in order."""

    looks: list[Look] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    earned: float = 0.0

    def replay(self, memory: TransitionMemory, role: int) -> None:
        """Record the episode, which ended in a terminal of ``role``."""
        trail = Trail(memory, self.looks[0])
        for action, look in zip(self.actions, self.looks[1:], strict=False):
            trail.follow(action, look, 0.0)
        trail.close(self.actions[-1], role)
