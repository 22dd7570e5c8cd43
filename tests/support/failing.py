"""Policies that fail in some episode."""

import numpy as np

from memenvs.policies.rules.simple import FirstInFirstOut
from memenvs.train.units import episode_seed

SIXTH = episode_seed(0, "odyssey", 5)


class Sixth(FirstInFirstOut):
    """Keeps the newest, and fails in the sixth episode on the Odyssey."""

    def start(self, episodes):
        return (np.asarray(episodes),)

    def act(self, observation, masks, state):
        if (state[0] == SIXTH).any():
            raise OSError("the connection\nis lost")
        return super().act(observation, masks, ())[0], state
