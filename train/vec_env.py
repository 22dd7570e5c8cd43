"""A native batch of episodes as a stable-baselines3 ``VecEnv``: masks, statistics, time limits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from memenvs.envs.memorization.privileged import Privileged
from memenvs.material.material import Material
from memenvs.policies import make
from memenvs.policies.learned.saved import column_names
from memenvs.policies.predictor import Predictor

# What an episode's info holds at its end, besides SB3's own entries.
FINAL = (
    "coverage",
    "precision",
    "water_inflation",
    "size",
    "utility",
    "settled",
    "illegal_action",
)


def make_vec_env(id: str, n_envs: int = 1, seed: int | None = None, **kwargs: Any) -> SB3VecEnv:
    """Make a registered environment's batch for stable-baselines3.

    Episode i is seeded with ``seed + i``; ``kwargs`` override the environment's settings.
    """
    batch = gym.make_vec(
        id,
        num_envs=n_envs,
        vectorization_mode="vector_entry_point",
        autoreset_mode=AutoresetMode.SAME_STEP,
        **kwargs,
    )
    env = SB3VecEnv(batch)
    if seed is not None:
        env.seed(seed)
    return env


class SB3VecEnv(VecEnv):
    """Wraps a vector environment that resets episodes in the step that ends them.

    ``infos[i]`` of an episode that ends holds ``terminal_observation``, ``TimeLimit.truncated``,
    ``episode`` (return ``r``, length ``l``, seconds ``t``, as ``Monitor`` gives them) and the final
    memory's utilities. Masks stand in the observation and in ``env_method("action_masks")``.
    Raises ``ValueError`` for another autoreset mode.
    """

    def __init__(self, batch: VectorEnv[Any, Any, Any]) -> None:
        mode = batch.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"stable-baselines3 needs autoreset_mode='SAME_STEP', not {mode}")
        self.batch = batch
        self._actions: NDArray[Any] = np.zeros(0)
        self._returns = np.zeros(batch.num_envs)
        self._lengths = np.zeros(batch.num_envs, dtype=np.int64)
        self._begun = time.time()
        super().__init__(batch.num_envs, batch.single_observation_space, batch.single_action_space)

    @property
    def episodes(self) -> int:
        """How many episodes are played at once."""
        return self.num_envs

    @property
    def decisions(self) -> int:
        """Decisions of the longest episode."""
        layout, rules = self.batch.unwrapped.layout, self.batch.unwrapped.rules  # type: ignore[attr-defined]
        limit: int = layout.limits.claims
        return (rules.decisions or 2 * limit) if layout.pool else limit

    @property
    def columns(self) -> dict[str, list[str]]:
        """Names of the columns that are shown."""
        return column_names(self.batch.unwrapped.layout)  # type: ignore[attr-defined]

    def teacher(self, name: str, seed: int) -> Predictor:
        """Build a policy that plays here."""
        return make(name, self, seed=seed)

    def give(self, materials: Sequence[Material], seeds: Sequence[int]) -> None:
        """Say which material and which seed each episode of the next reset has."""
        self.set_options([{"material": material} for material in materials])
        self._seeds = list(seeds)

    def reset(self) -> VecEnvObs:
        """Begin all episodes, with the seeds and options that were set for this reset."""
        given = [options.get("material") for options in self._options]
        options = {} if given.count(None) == len(given) else {"material": given}
        observation, infos = self.batch.reset(seed=self._seeds, options=options)  # type: ignore[arg-type]
        self.reset_infos = [
            {name: infos[name][i] for name in ("action_mask", "illegal_action")}
            for i in range(self.num_envs)
        ]
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        result: VecEnvObs = observation
        return result

    def step_async(self, actions: NDArray[Any]) -> None:
        """Note the actions ``(num_envs, ...)`` of the step to come."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes; those that end are begun anew."""
        observation, rewards, terminated, truncated, infos = self.batch.step(self._actions)
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
                for name in FINAL
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
        value = getattr(self.batch.unwrapped, attr_name)
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
        answer = getattr(self.batch.unwrapped, method_name)(*args, **kwargs)
        parted = isinstance(answer, np.ndarray | list | tuple) and len(answer) == self.num_envs
        return [answer[i] if parted else answer for i in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Say yes of ``Monitor`` alone, whose statistics the infos hold."""
        known = issubclass(wrapper_class, Monitor)
        return [known for _ in self._get_indices(indices)]
