"""Adds what was read in the episode to the observations of a batch, and notes what was settled."""

from __future__ import annotations

from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from memenvs.policies.base import attribute
from memenvs.policies.learned.networks.settled import Arrays
from memenvs.policies.learned.networks.tracker import Tracker


class HistoryVecEnv(VecEnvWrapper):
    """Observations have ``history`` ``(E, width)``: the claims read so far, with their records.

    ``tracker.tell`` lets somebody hear what is settled in each step.
    """

    def __init__(self, venv: VecEnv) -> None:
        layout, rules = attribute(venv, "layout"), attribute(venv, "rules")
        inner = venv.observation_space
        assert isinstance(inner, spaces.Dict)
        box = layout.claim.box(layout.limits.claims)
        super().__init__(venv, spaces.Dict({**inner.spaces, "history": box}))
        self.tracker = Tracker(layout, rules, self.num_envs)

    def reset(self) -> Arrays:
        """Begin all episodes."""
        observation = self.venv.reset()
        assert isinstance(observation, dict)
        return self.tracker.begin(observation)

    def step_wait(self) -> VecEnvStepReturn:
        """Enter what the step showed, the last observations of episodes that end among it."""
        observation, rewards, dones, infos = self.venv.step_wait()
        assert isinstance(observation, dict)
        finals = {i: infos[i]["terminal_observation"] for i in dones.nonzero()[0].tolist()}
        return self.tracker.follow(observation, finals), rewards, dones, infos
