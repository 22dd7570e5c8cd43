"""A batch of episodes as a stable-baselines3 ``VecEnv``: masks, statistics, time limits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from memenvs.envs.family import MEMORIZATION, Family
from memenvs.envs.memorization.privileged import Privileged
from memenvs.policies import make
from memenvs.policies.learned.saved import column_names
from memenvs.policies.predictor import Predictor
from memenvs.train.places import Place

# What the info of a memorization episode holds at its end, besides SB3's own entries.
FINAL = (*MEMORIZATION.finals, "illegal_action")
DECISIONS = 128  # of an episode whose environment does not say how long it may be


def make_vec_env(id: str, n_envs: int = 1, seed: int | None = None, **kwargs: Any) -> SB3VecEnv:
    """Make a registered environment, ours or your own, for stable-baselines3.

    Episode i is seeded with ``seed + i``; ``kwargs`` override the environment's settings.
    """
    env = SB3VecEnv(Place(id, kwargs).batch(n_envs, AutoresetMode.SAME_STEP))
    if seed is not None:
        env.seed(seed)
    return env


class SB3VecEnv(VecEnv):
    """Wraps a vector environment that resets episodes in the step that ends them.

    ``infos[i]`` of an episode that ends holds ``terminal_observation``, ``TimeLimit.truncated``,
    ``episode`` (return ``r``, length ``l``, seconds ``t``, as ``Monitor`` gives them) and what the
    environment's family ends with (``finals``). Masks are those of the environments' method
    ``action_masks``, of the observation or of the infos; ``env_method("action_masks")`` gives them.
    Raises ``ValueError`` for another autoreset mode.
    """

    def __init__(self, batch: VectorEnv[Any, Any, Any]) -> None:
        mode = batch.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"stable-baselines3 needs autoreset_mode='SAME_STEP', not {mode}")
        self.batch = batch
        inner: Any = batch.unwrapped
        self._single: Any = inner.envs[0] if isinstance(inner, SyncVectorEnv) else inner
        owner = self._single.unwrapped
        self.family: Family | None = getattr(owner, "family", None)
        self.finals = () if self.family is None else (*self.family.finals, "illegal_action")
        self._actions: NDArray[Any] = np.zeros(0)
        self._returns = np.zeros(batch.num_envs)
        self._lengths = np.zeros(batch.num_envs, dtype=np.int64)
        self._begun = time.time()
        self._masks: NDArray[np.bool_] | None = None  # as observation or infos last gave them
        self._has_method = self._owns(self._single, "action_masks")
        super().__init__(batch.num_envs, batch.single_observation_space, batch.single_action_space)
        if not self._has_method:
            self._note_masks(*batch.reset())

    @property
    def episodes(self) -> int:
        """How many episodes are played at once."""
        return self.num_envs

    @property
    def decisions(self) -> int:
        """Decisions of the longest episode, as far as the environment says."""
        owner = self._single.unwrapped
        if self.family is MEMORIZATION:
            longest: int = owner.rules.length(owner.layout.limits.claims)
            return longest
        stated = getattr(owner, "steps", None) or getattr(self._single.spec, "max_episode_steps", 0)
        return int(stated or DECISIONS)

    @property
    def columns(self) -> dict[str, list[str]]:
        """Names of the columns that are shown, where the environment says any."""
        owner = self._single.unwrapped
        if self.family is MEMORIZATION:
            return column_names(owner.layout)
        described = getattr(owner, "described", None) or getattr(
            getattr(owner, "layout", None), "described", {}
        )
        return {array: list(columns) for array, columns in described.items()}

    def teacher(self, name: str, seed: int) -> Predictor:
        """Build a policy that plays here."""
        return make(name, self, seed=seed)

    def give(self, instances: Sequence[Any], seeds: Sequence[int]) -> None:
        """Say what each episode of the next reset plays, and its seed.

        What is played is the family's: a material, a scenario, an instance; without one, nothing.
        """
        if self.family is not None:
            self.set_options([{self.family.instance: each} for each in instances])
        self._seeds = list(seeds)

    def reset(self) -> VecEnvObs:
        """Begin all episodes, with the seeds and options that were set for this reset."""
        name = "" if self.family is None else self.family.instance
        given = [options.get(name) for options in self._options]
        options = {} if given.count(None) == len(given) else {name: given}
        observation, infos = self.batch.reset(seed=self._seeds, options=options)  # type: ignore[arg-type]
        self._note_masks(observation, infos)
        self.reset_infos = [
            {key: infos[key][i] for key in ("action_mask", "illegal_action") if key in infos}
            for i in range(self.num_envs)
        ]
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        result: VecEnvObs = observation
        return result

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions ``(num_envs, n)``; raises ``AttributeError`` where there are none."""
        if self._has_method:
            inner: Any = self.batch.unwrapped
            if isinstance(inner, SyncVectorEnv):
                return np.stack(inner.call("action_masks")).astype(bool)
            return np.asarray(inner.action_masks(), dtype=bool)
        if self._masks is None:
            raise AttributeError("this environment has no action masks")
        return self._masks

    def step_async(self, actions: NDArray[Any]) -> None:
        """Note the actions ``(num_envs, ...)`` of the step to come."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes; those that end are begun anew."""
        observation, rewards, terminated, truncated, infos = self.batch.step(self._actions)
        self._note_masks(observation, infos)
        done = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        each: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        ended = done.nonzero()[0].tolist()
        for i in ended:
            final = infos["final_info"]
            each[i] = {
                "TimeLimit.truncated": bool(truncated[i]),
                "terminal_observation": infos["final_obs"][i],
                "episode": {
                    "r": round(float(self._returns[i]), 6),
                    "l": int(self._lengths[i]),
                    "t": round(time.time() - self._begun, 6),
                },
            }
            each[i] |= {
                name: final[name][i].item()
                for name in self.finals
                if name in final and final[f"_{name}"][i]
            }
        if ended:
            self._returns[ended] = 0.0
            self._lengths[ended] = 0
        return observation, rewards.astype(np.float32), done, each

    def close(self) -> None:
        """Close the batch."""
        self.batch.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Give a picture of every episode, where the render mode is ``"rgb_array"``."""
        frames = self.batch.render() if self.render_mode == "rgb_array" else None
        return [None] * self.num_envs if frames is None else list(frames)  # type: ignore[arg-type]

    def privileged_views(self) -> list[Privileged]:
        """Give what oracles may know of each episode."""
        views: list[Privileged] = self.batch.unwrapped.privileged_views()  # type: ignore[attr-defined]
        return views

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Read an attribute of the batch, once for each environment."""
        inner: Any = self.batch.unwrapped
        if attr_name == "action_masks":
            if not self._has_method and self._masks is None:  # so SB3 asks whether there are any
                raise AttributeError("this environment has no action masks")
            return [self.action_masks for _ in self._get_indices(indices)]
        if isinstance(inner, SyncVectorEnv):  # its own get_attr calls what can be called
            return [inner.envs[i].get_wrapper_attr(attr_name) for i in self._get_indices(indices)]
        value = getattr(inner, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the batch; raises ``ValueError`` for some of the environments."""
        if len(list(self._get_indices(indices))) < self.num_envs:
            raise ValueError(f"'{attr_name}' belongs to all environments of a batch; leave indices")
        setattr(self.batch.unwrapped, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method of the batch once; each environment gets its part of the answer."""
        inner: Any = self.batch.unwrapped
        if method_name == "action_masks":
            answer: Any = self.action_masks()
        elif isinstance(inner, SyncVectorEnv):
            answer = inner.call(method_name, *args, **kwargs)
        else:
            answer = getattr(inner, method_name)(*args, **kwargs)
        parted = isinstance(answer, np.ndarray | list | tuple) and len(answer) == self.num_envs
        return [answer[i] if parted else answer for i in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Say yes of ``Monitor`` alone, whose statistics the infos hold."""
        known = issubclass(wrapper_class, Monitor)
        return [known for _ in self._get_indices(indices)]

    def _note_masks(self, observation: Any, infos: Mapping[str, Any]) -> None:
        """Keep the masks of an observation, or of infos, where no method gives them."""
        if self._has_method:
            return
        shown = observation if isinstance(observation, dict) else {}
        masks = shown.get("action_mask", infos.get("action_mask"))
        self._masks = None if masks is None else np.asarray(masks, dtype=bool)

    @staticmethod
    def _owns(env: Any, name: str) -> bool:
        return env.has_wrapper_attr(name) if isinstance(env, gym.Env) else hasattr(env, name)
