"""The bisimulation memory as a write policy: fitted on other materials, then frozen."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import BoolArray, IntArray
from memenvs.material.material import Material
from memenvs.policies.base import Observation, Policy, State, attribute, privileged
from memenvs.policies.bisimulation.adapter import Look
from memenvs.policies.bisimulation.constants import PAPER
from memenvs.policies.bisimulation.experience import Experience
from memenvs.policies.bisimulation.memory import TransitionMemory
from memenvs.policies.bisimulation.situations import LEVEL, Situations, outcome
from memenvs.policies.bisimulation.trail import Trail, detour
from memenvs.policies.rules.trust import Trust
from memenvs.policies.training_materials import training_materials

MATERIALS = 128  # of a tier's train split
LEARNING = "learning"


class Bisimulation(Policy):
    """Rerank what the policy `trust` would do by what like situations have led to.

    The memory is fitted on other materials, then frozen: on the train split of the tier that is
    played (its first 128 materials), on the other materials of the environment (leave one out), or,
    as ``bisimulation:NAME_OR_FILE``, on those. There it detours from `trust` at the paper's rate,
    and an episode is a success where its settled share reaches the median of them all.
    ``bisimulation:learning`` goes on learning while it is tested (how an episode ended is told by
    ``conclude``), from a tier's fitted memory, and elsewhere from nothing. The state is that of
    `trust`, and the number of each episode. Raises ``ValueError`` where there is nothing to train
    on.
    """

    variants = "learning, NAME_OR_FILE"

    def __init__(self, env: Any, seed: int = 0, *, variant: str | None = None) -> None:
        super().__init__(env, seed)
        self._env = env
        self._situations = Situations(Trust(env, seed))
        self.learns = variant == LEARNING
        found = self._training(None if self.learns else variant)
        if not found and not self.learns:
            raise ValueError(
                "the policy 'bisimulation' has nothing to train on beside the one material; name "
                "others, or learn while tested: bisimulation:NAME_OR_FILE, bisimulation:learning"
            )
        self._experience = explore(found, self.rules, seed) if found else {}
        self._fitted: dict[str, tuple[TransitionMemory, float]] = {}  # by what was left out
        self._names: dict[int, str] = {}  # of the materials that were played
        self._running: dict[int, Running] = {}  # episodes, where it learns

    @property
    def alone(self) -> bool:
        """Whether it goes on learning."""
        return self.learns

    def memory(self, without: str = "") -> TransitionMemory:
        """Give the memory of every training material but that of the name."""
        return self._fit(without)[0]

    def start(self, episodes: IntArray) -> State:
        """Begin episodes of the base policy, and number them."""
        for number in episodes.tolist():  # one of that number was left unfinished
            self._running.pop(number, None)
        return (*self._situations.base.start(episodes), episodes)

    def act(
        self, observation: Observation, masks: BoolArray, state: State
    ) -> tuple[NDArray[Any], State]:
        """Rerank the shortlist of each episode."""
        *base, episodes = state
        looks, shortlists, base_state = self._situations.read(observation, masks, tuple(base))
        if self.learns:
            seen = zip(episodes.tolist(), looks, shortlists, strict=True)
            actions = [self._learn(*each) for each in seen]
        else:
            memories = [self.memory(self._name(view)) for view in privileged(self._env)]
            actions = list(map(self._rerank, memories, looks, shortlists))
        return np.array(actions), (*base_state, episodes)

    def conclude(self, state: State, earned: float) -> None:
        """Record how an episode that was played alone has ended, where it learns."""
        running = self._running.pop(int(state[-1][0]), None)
        if running is not None:
            share = self._situations.share(earned, running.trail.steps + 1)
            running.trail.close(running.action, outcome(share, self._fit("")[1]))

    @staticmethod
    def _rerank(memory: TransitionMemory, look: Look, shortlist: list[int]) -> int:
        return shortlist[memory.rerank(look.signature, look.named(shortlist))]

    def _learn(self, number: int, look: Look, shortlist: list[int]) -> int:
        running = self._running.get(number)
        if running is None:
            running = self._running[number] = Running(Trail(self.memory(), look), 0)
        else:
            running.trail.follow(running.action, look, 0.0)
        running.action = self._rerank(self.memory(), look, shortlist)
        return running.action

    def _fit(self, without: str) -> tuple[TransitionMemory, float]:
        without = without if without in self._experience else ""
        if without not in self._fitted:
            rest = [each for name, each in self._experience.items() if name != without]
            shares = [self._situations.share(each.earned, len(each.actions)) for each in rest]
            level = float(np.median(shares)) if rest else LEVEL
            memory = TransitionMemory("action-conditioned")
            for each, share in zip(rest, shares, strict=True):
                each.replay(memory, outcome(share, level))
            self._fitted[without] = memory, level
        return self._fitted[without]

    def _name(self, view: Privileged) -> str:
        if view.number not in self._names:
            self._names[view.number] = view.load().name
        return self._names[view.number]

    def _training(self, variant: str | None) -> Sequence[Material]:
        named = training_materials(self._env, variant, MATERIALS)
        if named is not None:
            return named
        fixed = attribute(self._env, "materials").fixed
        others = not self.learns and len(fixed) > 1  # what it plays it must not have learned from
        return list(fixed)[:MATERIALS] if others else ()


@dataclass
class Running:
    """An episode that is learned from while it runs."""

    trail: Trail
    action: int  # the last one taken


def explore(materials: Sequence[Material], rules: Rules, seed: int) -> dict[str, Experience]:
    """Play `trust` with detours on materials, one episode on each; by the material's name."""
    env = MemorizationVectorEnv(
        materials, num_envs=len(materials), **asdict(replace(rules, strict=False))
    )
    seeds = [_own_seed(seed, material.name) for material in materials]
    observation, _ = env.reset(seed=seeds, options={"material": list(materials)})
    situations = Situations(Trust(env, seed))
    state = situations.base.start(np.arange(len(materials)))
    found = [Experience() for _ in materials]
    running, step = np.ones(len(materials), dtype=bool), 0
    while running.any():
        looks, shortlists, state = situations.read(observation, env.action_masks(), state)
        actions = [
            shortlist[detour(own, step, len(shortlist), PAPER.detour)]
            for shortlist, own in zip(shortlists, seeds, strict=True)
        ]
        observation, rewards, terminated, *_ = env.step(np.array(actions))
        for place in np.flatnonzero(running).tolist():
            found[place].looks.append(looks[place])
            found[place].actions.append(actions[place])
            found[place].earned += float(rewards[place])
        step += 1
        running &= ~terminated
    return dict(zip([material.name for material in materials], found, strict=True))


def _own_seed(seed: int, name: str) -> int:
    entropy = (seed, zlib.crc32(name.encode()))
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
