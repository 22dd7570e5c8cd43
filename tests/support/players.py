"""Materials and rollouts that the tests of policies share."""

import numpy as np

from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS

SETTINGS = {
    "stream": LEVELS["1b"],
    "pool": LEVELS["1a"],
    "priority": {**LEVELS["1b"], "action": "priority"},
    "budget": {"budget": 9.0, "every": 3},
    "single query": LEVELS["0"],
}


def material(lengths=(3, 9, 5, 7, 1, 8, 2, 6), confidences=None):
    """Claims of given lengths, each answering a query of its own."""
    claims = tuple(
        Claim(
            id=f"c{i}",
            text="x" * length,
            cost=float(1 + i % 3),
            truth=i % 4 != 1,
            confidence=None if confidences is None else confidences[i],
        )
        for i, length in enumerate(lengths)
    )
    items = tuple(
        Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(len(lengths))
    )
    queries = tuple(Query(id=f"q{i}", weight=float(1 + i)) for i in range(len(lengths)))
    return Material("lengths", claims, items, queries)


def run(policy, env, seed=0, episodes=1):
    """Play episodes; gives the stored claims after every step of the last."""
    state, start = None, True
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed + episode)
        over, history = False, []
        while not over:
            action, state = policy.predict(observation, state, np.array([start]))
            start = False
            if env.rules.action == "slots":
                assert env.action_masks()[action]
            observation, _, over, _, info = env.step(action)
            history.append(np.flatnonzero(env.memory).tolist())
            assert len(history[-1]) <= env.rules.capacity
        assert info["illegal_action"] == 0
        start = True
    return history
