"""Policies as users bring them: a rule, a function, an object and a network in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sb3_contrib
import torch

from memenvs.train.vec_env import make_vec_env

SOURCE = '''
import torch
from memenvs.policies.rules.rule import Rule

NOTE = "no policy"


class Trusted(Rule):
    """Keep the claims whose source has been right most often."""

    def score(self, rows, observation):
        credits = rows[..., self.layout.index("source_credits")]
        debits = rows[..., self.layout.index("source_debits")]
        return (credits + 1) / (credits + debits + 2)


def last(observation, mask):
    return int(mask.nonzero()[0][-1])


class Net(torch.nn.Module):
    """Linear in the considered claim; its weights are the same wherever it is made."""

    def __init__(self, env):
        super().__init__()
        width = env.observation_space["claim"].shape[0]
        self.linear = torch.nn.Linear(width, int(env.action_space.n))
        for place, parameter in enumerate(self.parameters()):
            torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(place))

    def forward(self, seen):
        return self.linear(seen["claim"])


class Counting:
    """Takes legal actions in turn; its state counts."""

    def predict(self, observation, state=None, episode_start=None, deterministic=True,
                action_masks=None):
        step = 0 if state is None else state + 1
        legal = action_masks.nonzero()[0]
        return legal[step % len(legal)], step
'''


def write(folder: Path) -> Path:
    """Write the file of policies."""
    path = folder / "own.py"
    path.write_text(SOURCE)
    return path


def last(observation, mask):
    """Take the last legal action."""
    return int(mask.nonzero()[0][-1])


def readme_model(path: Path, algorithm=sb3_contrib.MaskablePPO, steps: int = 32, **settings):
    """Train by the README's own loop, shortened, and save as SB3 does; gives the model."""
    torch.set_num_threads(1)
    envs = make_vec_env("memenvs/Readable-v0", 4, seed=0)
    policy = "MultiInputPolicy"
    if algorithm is sb3_contrib.RecurrentPPO:
        policy = "MultiInputLstmPolicy"
    if algorithm is sb3_contrib.MaskablePPO:
        settings = {"n_steps": 8, "batch_size": 32, "n_epochs": 1, **settings}
    model = algorithm(policy, envs, seed=0, device="cpu", **settings).learn(steps)
    model.save(path)
    return model


def actions_of(policy, env, seed=0):
    """Play an episode; gives the actions."""
    observation, info = env.reset(seed=seed)
    state, over, actions = policy.start(np.array([seed])), False, []
    while not over:
        action, state = policy.predict(observation, state, action_masks=info["action_mask"])
        actions.append(np.asarray(action).tolist())
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    return actions
