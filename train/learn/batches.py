"""What a training puts around its batch: stages, dropped features, a shaped reward, a clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from memenvs.envs.memorization.columns import TEXT_COLUMNS
from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import FloatArray
from memenvs.policies.base import attribute
from memenvs.train.config_files import unknown

# Columns of a claim that say something of it by themselves; zero means nothing there.
DROPPED = (
    "embedding cues source_cues confidence time place source_claims previous_similarity "
    "earlier_similarity frequency".split()
)
SHAPINGS = ("exact-difference",)
SCALAR_SHAPINGS = ("sampled-difference", "leave-one-out")


class Stages(VecEnvWrapper):
    """One of several batches with equal spaces; ``enter`` says which, before a reset."""

    def __init__(self, stages: Sequence[VecEnv]) -> None:
        super().__init__(stages[0])
        for number, stage in enumerate(stages):
            if stage.observation_space != self.observation_space:
                raise ValueError(
                    f"curriculum: stage {number} has another observation space than stage 0; take "
                    "environments with equal claims, slots, embeddings and cues"
                )
        self._stages = tuple(stages)

    def enter(self, number: int) -> None:
        """Go on with stage ``number``; the episodes of the others are left."""
        self.venv = self._stages[number]

    def reset(self) -> VecEnvObs:
        """Begin all episodes."""
        return self.venv.reset()

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes."""
        return self.venv.step_wait()


class Timed(VecEnvWrapper):
    """Adds up the seconds spent in the batch inside."""

    seconds = 0.0

    def reset(self) -> VecEnvObs:
        """Begin all episodes."""
        begun = time.perf_counter()
        observation = self.venv.reset()
        self.seconds += time.perf_counter() - begun
        return observation

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes."""
        begun = time.perf_counter()
        outcome = self.venv.step_wait()
        self.seconds += time.perf_counter() - begun
        return outcome


class FeatureDropout(VecEnvWrapper):
    """Hides a share of the features of claims, drawn anew for each episode; the rest is scaled.

    Each number of an embedding is a feature by itself. Relations, records and ``valid`` stay.
    """

    def __init__(self, venv: VecEnv, share: float) -> None:
        super().__init__(venv)
        layout: Layout = attribute(venv, "layout")
        names = [*DROPPED, *(TEXT_COLUMNS if layout.limits.texts else ())]
        self._columns = np.concatenate(
            [np.arange(p.start, p.stop) for p in (layout.slice(name) for name in names)]
        )
        self._share = share
        self._generator = np.random.default_rng(0)
        self._scale = np.ones((self.num_envs, layout.claim.width), dtype=np.float32)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the batch inside, and what is dropped from the next reset on."""
        self._generator = np.random.default_rng(seed)
        return self.venv.seed(seed)

    def reset(self) -> VecEnvObs:
        """Begin all episodes."""
        self._draw(np.ones(self.num_envs, dtype=bool))
        return self._dropped(self.venv.reset(), self._scale)

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes; those that begin lose other features."""
        observation, rewards, dones, infos = self.venv.step_wait()
        for i in np.flatnonzero(dones).tolist():
            last = infos[i]["terminal_observation"]
            infos[i]["terminal_observation"] = self._dropped(last, self._scale[i])
        self._draw(dones)
        return self._dropped(observation, self._scale), rewards, dones, infos

    def _draw(self, begun: NDArray[np.bool_]) -> None:
        kept = self._generator.random((int(begun.sum()), len(self._columns))) >= self._share
        scale = np.ones((len(kept), self._scale.shape[1]), dtype=np.float32)
        scale[:, self._columns] = kept / (1.0 - self._share)
        self._scale[begun] = scale

    def _dropped(self, observation: Any, scale: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
        width = scale.shape[-1]
        hidden = dict(observation)
        hidden["claim"] = observation["claim"] * scale
        for name in ("memory", "claims"):
            if name in observation:
                rows = observation[name].copy()
                rows[..., :width] *= scale[..., None, :]
                hidden[name] = rows
        return hidden


class ExactDifference(VecEnvWrapper):
    """``ExactDifferenceShaping`` for a batch: adds ``weight`` · (u(M') − u(M)) to each reward.

    PRIVILEGED: truth and p_D reach the agent through the reward.
    """

    def __init__(self, venv: VecEnv, weight: float) -> None:
        super().__init__(venv)
        if attribute(venv, "rules").disclosure == "one":
            raise ValueError("shaping: exact-difference cannot be used with disclosure='one'")
        self._weight = weight
        self._before: FloatArray = np.zeros(self.num_envs)

    def reset(self) -> VecEnvObs:
        """Begin all episodes."""
        observation = self.venv.reset()
        self._before = self._utilities()
        return observation

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes and add what the decisions were worth."""
        observation, rewards, dones, infos = self.venv.step_wait()
        following = self._utilities()
        after = following.copy()
        for i in np.flatnonzero(dones).tolist():
            after[i] = infos[i]["utility"]
        added = self._weight * (after - self._before)
        self._before = following
        return observation, (rewards + added).astype(np.float32), dones, infos

    def _utilities(self) -> FloatArray:
        batch: Any = self.venv.unwrapped
        utilities: FloatArray = batch.batch.unwrapped.expected_utilities()
        return utilities


def shaped(venv: VecEnv, wrapper: str, weight: float) -> VecEnv:
    """Shape the reward of a batch; raises ``ValueError`` for what is unknown or scalar only."""
    if wrapper in SCALAR_SHAPINGS:
        raise ValueError(
            f"shaping '{wrapper}' works on single environments only; take one of "
            f"{', '.join(SHAPINGS)}, or train with gym.make and the wrapper in a loop of your own"
        )
    if wrapper not in SHAPINGS:
        raise ValueError(f"shaping '{wrapper}' {unknown(wrapper, SHAPINGS)}")
    return ExactDifference(venv, weight)
