"""Play one system of the ladder on one task: sixty episodes, of which the first third explores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memenvs.envs.miniwob.browser import BrowserError
from memenvs.material.incidence import BoolArray, IntArray
from memenvs.policies.bisimulation import PAPER, Constants, Trail, TransitionMemory, detour
from memenvs.policies.bisimulation.adapter import Shortlister
from memenvs.policies.bisimulation.systems import System
from memenvs.policies.gui import GuiAdapter

EXPLORING = 1 / 3  # share of a run that takes detours
PER_BASE = 10_000  # instances of a seed base: more than any run has episodes


@dataclass(frozen=True)
class Run:
    """What one system did on the episodes of one task and seed base, in order."""

    success: BoolArray  # (episodes,)
    steps: IntArray  # (episodes,)
    covered: IntArray  # (episodes,) decisions whose block held evidence for a candidate
    overridden: IntArray  # (episodes,) decisions that displaced the policy's first choice
    shortcuts: IntArray  # (episodes,) decisions at which the policy proposed one action alone
    crashed: BoolArray  # (episodes,) that the browser did not survive, and that are no success
    collapse: float  # pages for each block at the end; 1 where nothing is kept

    @property
    def exploring(self) -> int:
        """How many episodes took detours."""
        return exploring(len(self.success))


def exploring(episodes: int) -> int:
    """How many of so many episodes take detours: a third, rounded."""
    return round(episodes * EXPLORING)


def play(
    system: System,
    env: Any,
    policy: Shortlister,
    base: int,
    episodes: int,
    constants: Constants = PAPER,
) -> Run:
    """Play the instances of a seed base in order, with one memory for all of them.

    The detours depend on the instance and the step alone, and no action is reranked while they
    last, so that every system sees the same in that third.
    """
    memory = None if system.rule is None else TransitionMemory(system.rule, constants)
    first = exploring(episodes)
    success, crashed = np.zeros((2, episodes), dtype=bool)
    counts = np.zeros((4, episodes), dtype=np.int64)
    for episode in range(episodes):
        instance, explores = base * PER_BASE + episode, episode < first
        player = Player(system, env, policy, memory, constants, counts[:, episode])
        try:
            success[episode] = player.play(instance, explores)
        except BrowserError:  # it costs the episode; twice in a row, there is no browser
            if episode == 0 or crashed[episode - 1]:
                raise
            crashed[episode] = True
    collapse = 1.0 if memory is None else memory.collapse_ratio()
    steps, covered, overridden, shortcuts = counts
    return Run(success, steps, covered, overridden, shortcuts, crashed, collapse)


@dataclass
class Player:
    """Plays one episode, and counts steps, decisions with evidence, overrides, and shortcuts."""

    system: System
    env: Any
    policy: Shortlister
    memory: TransitionMemory | None
    constants: Constants
    counts: IntArray  # (4,)

    def play(self, instance: int, explores: bool) -> bool:
        """Say whether it was a success."""
        env, policy, counts = self.env, self.policy, self.counts
        adapter = GuiAdapter(env, self.system.templates)
        observation, info = env.reset(options={"instance": instance})
        look = adapter.look(observation, info)
        trail = None if self.memory is None else Trail(self.memory, look)
        state, over = None, False
        while not over:
            found, state = policy.shortlist(observation, info, state)
            counts[3] += len(found) == 1
            place = 0
            if explores:
                if self.system.shortlist:
                    place = detour(instance, int(counts[0]), len(found), self.constants.detour)
            elif trail is not None:
                counts[1] += bool(trail.evidence(found).counts.any())
                place = trail.rerank(found)
                counts[2] += place > 0
            state = policy.observe(found[place], state)
            observation, reward, terminated, truncated, info = env.step(found[place])
            counts[0] += 1
            over = terminated or truncated
            if trail is not None and not over:
                trail.follow(found[place], adapter.look(observation, info), reward)
            elif trail is not None:
                trail.end(found[place], reward, adapter, terminated=terminated)
        return bool(info["success"])
