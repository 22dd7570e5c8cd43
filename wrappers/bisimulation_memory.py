"""The bisimulation memory around an environment: it reranks a policy's shortlist, or advises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.material.records import FLOAT32_MAX
from memenvs.policies.bisimulation.adapter import Adapter
from memenvs.policies.bisimulation.constants import PAPER
from memenvs.policies.bisimulation.learner import EPISODES, Choice, Episode, Learner
from memenvs.policies.bisimulation.memory import TransitionMemory
from memenvs.policies.bisimulation.reader import reader_for

LAG = 0.05  # share by which a memory that advises may grow between two partitions
Mode = Literal["act", "advise"]
Observation = dict[str, NDArray[Any]]
BOUND = 3.0  # of q_B: an advantage lies within 2, the dense term within 0.1


def _advised_space(space: spaces.Space[Any], actions: spaces.Space[Any]) -> spaces.Dict:
    if not isinstance(space, spaces.Dict) or not isinstance(actions, spaces.Discrete):
        raise ValueError("mode='advise' adds to a Dict of observations, of Discrete actions")
    count = int(actions.n)
    added = {
        "evidence": spaces.Box(-BOUND, BOUND, (count,), np.float32),
        "evidence_count": spaces.Box(0.0, FLOAT32_MAX, (1,), np.float32),
    }
    return spaces.Dict({**space.spaces, **added})


def _advice(episode: Episode | None, actions: int) -> Observation:
    """Give q_B of every action, and how much the block recorded; zeros where there is neither."""
    found = None if episode is None else episode.evidence(range(episode.actions))
    if found is None:
        return {"evidence": np.zeros(actions, "f4"), "evidence_count": np.zeros(1, "f4")}
    return {
        "evidence": found.values.astype(np.float32),
        "evidence_count": np.log1p([found.total]).astype(np.float32),
    }


def _check_mode(mode: str) -> None:
    if mode not in ("act", "advise"):
        raise ValueError(f"mode={mode!r} is unknown; choose from act, advise")


class BisimulationMemory(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Record every transition across episodes, and put what equal states have shown to use.

    With ``mode="act"`` the given action stands first in the shortlist of ``policy``. In the first
    ``explore`` episodes of the memory another of the shortlist is taken in a share ``detour`` of
    the decisions; afterwards the memory takes what it ranks highest (equation 8). ``info`` says
    whether that was an ``override``, and how much ``evidence`` its block had. With
    ``mode="advise"`` actions are taken as they are, and the observation gains ``evidence``
    ``(n,)``, q_B of each action, and ``evidence_count`` ``(1,)``, log(1 + transitions recorded from
    the block); both are zero where an episode is over. Illegal actions are left to the environment.

    Args:
        env: a graphical environment, or a memorization environment that writes into slots.
        policy: gives shortlists, or scores claims: itself, ``"scripted"`` (for pages), or the name
            of a write policy.
        rule: name of the merge rule.
        mode: ``"act"`` or ``"advise"``.
        explore: episodes that leave the policy's first choice now and then; 0 for none. Around a
            memorization environment they also say, by their median share, what a success is.
        detour: share of the decisions in which they do.
        memory: goes on with this memory, by its own rule; it is ``memory`` of the wrapper.
        adapter: reads pages, instead of the environment's own adapter.

    While ``reranking`` is False (set it), given actions are taken as they are, and recorded.
    ``shortlist`` is the policy's for the page that is shown.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        policy: Any,
        rule: str = "guarded",
        mode: Mode = "act",
        *,
        explore: int = EPISODES,
        detour: float = PAPER.detour,
        memory: TransitionMemory | None = None,
        adapter: Adapter | None = None,
    ) -> None:
        gym.utils.RecordConstructorArgs.__init__(
            self, policy=policy, rule=rule, mode=mode, explore=explore, detour=detour
        )
        gym.Wrapper.__init__(self, env)
        _check_mode(mode)
        self.memory = memory or TransitionMemory(rule)
        self.reranking = mode == "act"
        self.learner = Learner(self.memory, reader_for(env, policy, adapter), explore, detour)
        self._advises = mode == "advise"
        self.memory.lag = LAG if self._advises else 0.0
        self._episode: Episode | None = None
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
        self._episode = self.learner.begin(observation, info)
        return self._advised(observation), info | {"override": False, "evidence": 0}

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
        return observation | _advice(self._episode, int(self.action_space.n))  # type: ignore[attr-defined]

    def graph(self) -> dict[str, Any]:
        """Describe the memory and its last overrides, for ``as_html`` and ``as_dot``."""
        return self.learner.graph()

    @property
    def _running(self) -> Episode:
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
        rule: str = "guarded",
        mode: Mode = "act",
        *,
        explore: int = EPISODES,
        detour: float = PAPER.detour,
        memory: TransitionMemory | None = None,
        adapter: Adapter | None = None,
    ) -> None:
        super().__init__(env)
        _check_mode(mode)
        self.memory = memory or TransitionMemory(rule)
        self.reranking = mode == "act"
        self.learner = Learner(self.memory, reader_for(env, policy, adapter), explore, detour)
        self._advises = mode == "advise"
        self.memory.lag = LAG if self._advises else 0.0
        self._mode = env.metadata["autoreset_mode"]
        self._episodes: list[Episode | None] = [None] * env.num_envs
        if self._advises:
            single = _advised_space(env.single_observation_space, env.single_action_space)
            self.single_observation_space = single
            self.observation_space = batch_space(single, env.num_envs)

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions of the environments ``(num_envs, n)``."""
        masks: NDArray[np.bool_] = self.env.action_masks()  # type: ignore[attr-defined]
        return masks

    def graph(self) -> dict[str, Any]:
        """Describe the memory and its last overrides, for ``as_html`` and ``as_dot``."""
        return self.learner.graph()

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
        every = np.ones(self.num_envs, dtype=bool)
        chosen = np.asarray((options or {}).get("reset_mask", every))
        for place in np.flatnonzero(chosen).tolist():
            self._begin(place, observation, infos)
        return self._advised(observation), infos | _told([Choice(-1)] * self.num_envs, chosen)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one decision in every environment, and record what followed."""
        running = list(self._episodes)
        choices = [
            Choice(int(given)) if each is None else each.choose(int(given), self.reranking)
            for given, each in zip(actions, running, strict=True)
        ]
        taken = np.array([choice.action for choice in choices])
        observation, rewards, terminated, truncated, infos = self.env.step(taken)
        over = np.logical_or(terminated, truncated)
        for place, (each, choice) in enumerate(zip(running, choices, strict=True)):
            if each is None:  # the step that resets it
                self._begin(place, observation, infos)
            elif over[place]:
                each.end(choice.action, float(rewards[place]), terminated=bool(terminated[place]))
                self._episodes[place] = None
                if self._mode == AutoresetMode.SAME_STEP:
                    self._begin(place, observation, infos)
            else:
                row, info = _row(observation, place), _row(infos, place)
                each.follow(choice.action, float(rewards[place]), row, info)
        return (
            self._advised(observation),
            rewards,
            terminated,
            truncated,
            self._infos(infos, choices, over),
        )

    def _infos(
        self, infos: dict[str, Any], choices: list[Choice], over: NDArray[np.bool_]
    ) -> dict[str, Any]:
        """Say what became of the actions: of a last one, where finals are told, among these."""
        every = np.ones(self.num_envs, dtype=bool)
        if "final_info" not in infos:
            return infos | _told(choices, every)
        ended = [c if o else Choice(-1) for c, o in zip(choices, over, strict=True)]
        going = [Choice(-1) if o else c for c, o in zip(choices, over, strict=True)]
        finals = {"final_info": infos["final_info"] | _told(ended, over)}
        if self._advises:
            finals["final_obs"] = self._finals(infos["final_obs"])
        return infos | finals | _told(going, every)

    def _begin(self, place: int, observation: Any, infos: dict[str, Any]) -> None:
        self._episodes[place] = self.learner.begin(_row(observation, place), _row(infos, place))

    def _advised(self, observation: Any) -> Any:
        if not self._advises:
            return observation
        count = int(self.single_action_space.n)  # type: ignore[attr-defined]
        each = [_advice(episode, count) for episode in self._episodes]
        return observation | {name: np.stack([one[name] for one in each]) for name in each[0]}

    def _finals(self, finals: NDArray[Any]) -> NDArray[Any]:
        """Add nothing to what the episodes ended with."""
        nothing = _advice(None, int(self.single_action_space.n))  # type: ignore[attr-defined]
        changed = np.full(len(finals), None, dtype=object)
        for place, final in enumerate(finals):
            changed[place] = None if final is None else final | nothing
        return changed


def _told(choices: Sequence[Choice], where: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Say what became of the actions of some environments, as Gymnasium tells batches."""
    return {
        "override": np.array([choice.override for choice in choices]),
        "_override": where.copy(),
        "evidence": np.array([choice.evidence for choice in choices]),
        "_evidence": where.copy(),
    }


def _row(arrays: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Give one environment's part of an observation or of infos."""
    return {name: array[place] for name, array in arrays.items() if isinstance(array, np.ndarray)}
