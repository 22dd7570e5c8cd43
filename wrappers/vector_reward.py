"""Both utilities as a reward vector, by MO-Gymnasium's convention."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.episode import Episode
from memenvs.wrappers.episodes import check_memorization, episode_of


class VectorReward(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Pay coverage and precision side by side, whatever the utility of the environment.

    The reward is ``(2,)`` float32: of the queries settled in the step, those that the memory
    answers and those that it answers from true claims; their exact expectation under
    ``settlement="expected"``. ``reward_space`` is where MO-Gymnasium's own wrappers look for it,
    on the wrapper and on the unwrapped environment. A scalar reward is what Gymnasium's checkers
    ask for: put ``LinearReward`` around it for them.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        check_memorization(env, "VectorReward")
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        rules = env.get_wrapper_attr("rules")
        most = max(rules.queries if rules.every else 0, rules.closing)
        self.reward_space = spaces.Box(0.0, float(most), (2,), np.float32)
        self.reward_dim = 2
        env.unwrapped.reward_space = self.reward_space  # type: ignore[attr-defined]

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one decision; the reward is the vector."""
        episode = episode_of(self)
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, settled_vector(episode), terminated, truncated, info


def settled_vector(episode: Episode) -> NDArray[np.float32]:
    """Coverage and precision of what the last decision settled: ``(2,)``."""
    if episode.rules.settlement == "expected" and episode.known_query is None:
        if not episode.fresh:
            return np.zeros(2, dtype=np.float32)
        result = episode.prepared.material.evaluate(episode.memory)
        return episode.fresh * np.array([result.coverage, result.precision], dtype=np.float32)
    fresh = episode.log[len(episode.log) - episode.fresh :]
    return np.array(
        [sum(settled.covered for settled in fresh), sum(settled.known for settled in fresh)],
        dtype=np.float32,
    )
