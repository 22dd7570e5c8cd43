"""The bisimulation memory around an environment: it reranks a policy's shortlist, or advises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.material.records import FLOAT32_MAX
from memenvs.policies.bisimulation.adapter import Adapter
from memenvs.policies.bisimulation.memory import TransitionMemory
from memenvs.policies.bisimulation.reader import StepReader, reader_for
from memenvs.policies.bisimulation.trail import Trail

Mode = Literal["act", "advise"]
Observation = dict[str, NDArray[Any]]
BOUND = 3.0  # of q_B: an advantage lies within 2, the dense term within 0.1


class Choice(NamedTuple):
    """What became of an action."""

    action: int
    override: bool  # another than the given one was taken
    evidence: int  # transitions that the block had recorded under the shortlisted actions


class _Episode:
    """Goes through an episode with a memory."""

    def __init__(
        self, memory: TransitionMemory, reader: StepReader, observation: Any, info: dict[str, Any]
    ) -> None:
        self._reader = reader
        self._reading, self._state = reader.read(observation, info, None)
        self._trail = Trail(memory, self._reading.look)

    @property
    def shortlist(self) -> list[int]:
        """The policy's shortlist for the page that is shown."""
        return self._reading.shortlist

    def choose(self, given: int, reranks: bool) -> Choice:
        """Rank the given action first, and the policy's others behind it."""
        if not reranks or not 0 <= given < len(self._reading.look.templates):
            return Choice(given, False, 0)
        shortlist = [given, *(action for action in self.shortlist if action != given)]
        place = self._trail.rerank(shortlist)
        evidence = int(self._trail.evidence(shortlist).counts.sum())
        return Choice(shortlist[place], place > 0, evidence)

    def follow(self, action: int, reward: float, observation: Any, info: dict[str, Any]) -> None:
        """Record a step that led on."""
        self._reading, self._state = self._reader.read(observation, info, self._state)
        self._trail.follow(action, self._reading.look, reward)

    def end(self, action: int, reward: float, *, terminated: bool) -> None:
        """Record the last step."""
        self._trail.end(action, reward, self._reader, terminated=terminated)

    def advice(self) -> Observation:
        """Give q_B of every action, and how much the block recorded."""
        actions = range(len(self._reading.look.templates))
        found = self._trail.evidence(actions)
        return {
            "evidence": found.values.astype(np.float32),
            "evidence_count": np.log1p([found.total]).astype(np.float32),
        }


def _advised_space(space: spaces.Space[Any], actions: spaces.Space[Any]) -> spaces.Dict:
    if not isinstance(space, spaces.Dict) or not isinstance(actions, spaces.Discrete):
        raise ValueError("mode='advise' adds to a Dict of observations, of Discrete actions")
    count = int(actions.n)
    added = {
        "evidence": spaces.Box(-BOUND, BOUND, (count,), np.float32),
        "evidence_count": spaces.Box(0.0, FLOAT32_MAX, (1,), np.float32),
    }
    return spaces.Dict({**space.spaces, **added})


def _nothing(actions: int) -> Observation:
    """Give the advice where an episode is over."""
    return {"evidence": np.zeros(actions, np.float32), "evidence_count": np.zeros(1, np.float32)}


def _check_mode(mode: str) -> None:
    if mode not in ("act", "advise"):
        raise ValueError(f"mode={mode!r} is unknown; choose from act, advise")


class BisimulationMemory(gym.Wrapper[Any, Any, Any, Any]):
    """Record every transition across episodes, and put what equal states have shown to use.

    With ``mode="act"`` the given action stands first in the shortlist of ``policy``, and the memory
    takes what it ranks highest (equation 8); ``info`` says whether that was an ``override``, and
    how much ``evidence`` its block had. With ``mode="advise"`` the observation gains ``evidence``
    ``(n,)``, q_B of each action, and ``evidence_count`` ``(1,)``, log(1 + transitions recorded from
    the block); both are zero where an episode is over.

    Args:
        env: a graphical environment, or a memorization environment that writes into slots.
        policy: gives shortlists, or scores claims: a write policy or the name of one.
        rule: name of the merge rule.
        mode: ``"act"`` or ``"advise"``.
        memory: goes on with this memory, by its own rule; it is ``memory`` of the wrapper.
        adapter: reads pages, instead of the environment's own adapter.

    While ``reranking`` is False (set it), given actions are taken as they are, and recorded.
    ``shortlist`` is the policy's for the page that is shown.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        policy: Any,
        rule: str = "action-conditioned",
        mode: Mode = "act",
        *,
        memory: TransitionMemory | None = None,
        adapter: Adapter | None = None,
    ) -> None:
        super().__init__(env)
        _check_mode(mode)
        self.memory = memory or TransitionMemory(rule)
        self.reranking = mode == "act"
        self._reader = reader_for(env, policy, adapter)
        self._advises = mode == "advise"
        self._episode: _Episode | None = None
        if self._advises:
            self.observation_space = _advised_space(env.observation_space, env.action_space)

    @property
    def shortlist(self) -> list[int]:
        """The policy's shortlist for the page that is shown, its own choice first."""
        return self._running.shortlist

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; one that was left unfinished ends without a role."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._episode = _Episode(self.memory, self._reader, observation, info)
        return self._advised(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one decision, and record what followed."""
        chosen = self._running.choose(int(action), self.reranking)
        observation, reward, terminated, truncated, info = self.env.step(chosen.action)
        if terminated or truncated:
            self._running.end(chosen.action, float(reward), terminated=terminated)
            self._episode = None
        else:
            self._running.follow(chosen.action, float(reward), observation, info)
        info = info | {"override": chosen.override, "evidence": chosen.evidence}
        return self._advised(observation), reward, terminated, truncated, info

    def _advised(self, observation: Any) -> Any:
        if not self._advises:
            return observation
        if self._episode is None:
            return observation | _nothing(int(self.action_space.n))  # type: ignore[attr-defined]
        return observation | self._episode.advice()

    @property
    def _running(self) -> _Episode:
        if self._episode is None:
            raise RuntimeError("no episode is running; call reset()")
        return self._episode


class VectorBisimulationMemory(VectorWrapper):
    """``BisimulationMemory`` around a vector of environments, which share one memory.

    Arguments are the same. All decisions of a step are taken before what followed is recorded, so
    that one environment alone is played as the scalar wrapper plays it; every autoreset mode works.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        policy: Any,
        rule: str = "action-conditioned",
        mode: Mode = "act",
        *,
        memory: TransitionMemory | None = None,
        adapter: Adapter | None = None,
    ) -> None:
        super().__init__(env)
        _check_mode(mode)
        self.memory = memory or TransitionMemory(rule)
        self.reranking = mode == "act"
        self._reader = reader_for(env, policy, adapter)
        self._advises = mode == "advise"
        self._mode = env.metadata["autoreset_mode"]
        self._episodes: list[_Episode | None] = [None] * env.num_envs
        if self._advises:
            single = _advised_space(env.single_observation_space, env.single_action_space)
            self.single_observation_space = single
            self.observation_space = batch_space(single, env.num_envs)

    @property
    def shortlists(self) -> list[list[int]]:
        """The policy's shortlist in each environment; empty where the episode is over."""
        return [[] if each is None else each.shortlist for each in self._episodes]

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every environment, or in those of ``options["reset_mask"]``."""
        observation, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        chosen = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        for place in np.flatnonzero(chosen).tolist():
            self._begin(place, observation, infos)
        return self._advised(observation), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one decision in every environment, and record what followed."""
        running = list(self._episodes)
        choices = [
            Choice(int(given), False, 0)
            if each is None
            else each.choose(int(given), self.reranking)
            for given, each in zip(actions, running, strict=True)
        ]
        taken = np.array([choice.action for choice in choices])
        observation, rewards, terminated, truncated, infos = self.env.step(taken)
        for place, (each, choice) in enumerate(zip(running, choices, strict=True)):
            if each is None:  # the step that resets it
                self._begin(place, observation, infos)
            elif terminated[place] or truncated[place]:
                each.end(choice.action, float(rewards[place]), terminated=bool(terminated[place]))
                self._episodes[place] = None
                if self._mode == AutoresetMode.SAME_STEP:
                    self._begin(place, observation, infos)
            else:
                row, info = _row(observation, place), _row(infos, place)
                each.follow(choice.action, float(rewards[place]), row, info)
        infos = infos | {
            "override": np.array([choice.override for choice in choices]),
            "evidence": np.array([choice.evidence for choice in choices]),
        }
        if self._advises and "final_obs" in infos:
            infos["final_obs"] = self._finals(infos["final_obs"])
        return self._advised(observation), rewards, terminated, truncated, infos

    def _begin(self, place: int, observation: Any, infos: dict[str, Any]) -> None:
        row, info = _row(observation, place), _row(infos, place)
        self._episodes[place] = _Episode(self.memory, self._reader, row, info)

    def _advised(self, observation: Any) -> Any:
        if not self._advises:
            return observation
        nothing = _nothing(int(self.single_action_space.n))  # type: ignore[attr-defined]
        each = [nothing if one is None else one.advice() for one in self._episodes]
        return observation | {name: np.stack([one[name] for one in each]) for name in nothing}

    def _finals(self, finals: NDArray[Any]) -> NDArray[Any]:
        """Add nothing to what the episodes ended with."""
        nothing = _nothing(int(self.single_action_space.n))  # type: ignore[attr-defined]
        changed = np.full(len(finals), None, dtype=object)
        for place, final in enumerate(finals):
            changed[place] = None if final is None else final | nothing
        return changed


def _row(arrays: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Give one environment's part of an observation or of infos."""
    return {name: array[place] for name, array in arrays.items() if isinstance(array, np.ndarray)}
