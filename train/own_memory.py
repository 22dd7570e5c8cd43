"""What a policy itself holds at the end of an episode, which may be less than its slots hold."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from memenvs.material.incidence import BoolArray
from memenvs.material.material import Material


def play_own(env: gym.Env[Any, Any], policy: Any, material: Material, seed: int) -> BoolArray:
    """Play an episode; gives the claims that the policy holds valid: ``(n_claims,)``.

    They are the stored ones, less what a memory in use has given up (``Today.held``): flushed
    pages, invalidated facts. Settlements during the episode still count them.
    """
    observation, info = env.reset(seed=seed, options={"material": material})
    state, over = policy.start(np.array([seed])), False  # as ``evaluate.play`` begins
    while not over:
        action, state = policy.predict(observation, state, action_masks=info["action_mask"])
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    inner: Any = env.unwrapped
    if hasattr(policy, "conclude"):
        policy.conclude(state, float(inner.episode.earned))
    if not hasattr(policy, "held"):
        return np.asarray(inner.memory)
    batch = {name: array[None] for name, array in observation.items()}
    held = policy.held(batch, state)[0]
    memory = np.zeros(len(material.claims), dtype=bool)
    memory[inner.episode.slots.claims[held]] = True
    return memory
