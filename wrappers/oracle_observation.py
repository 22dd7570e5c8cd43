"""Everything that is hidden, put into the observation: for debugging."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.memorization.columns import Column
from memenvs.envs.memorization.episode import Episode
from memenvs.envs.memorization.layout import Columns, Layout
from memenvs.wrappers.episodes import check_memorization, episode_of, expected_utilities

Observation = dict[str, Any]

CLAIMS: dict[str, Column] = {
    "truth": Column(0, 1, "truth of the claim"),
    "alone": Column(0, 1, "utility of a memory that holds the claim and nothing else"),
    "gain": Column(-1, 1, "utility that it would add to the memory; 0 where it is stored"),
    "stored": Column(0, 1, "1: the claim is in the memory"),
    "considered": Column(0, 1, "1: it is the one to be decided about"),
    "valid": Column(0, 1, "0: an empty row"),
}
QUERIES: dict[str, Column] = {
    "mass": Column(0, 1, "its share of p_D"),
    "covered": Column(0, 1, "1: the memory answers it"),
    "known": Column(0, 1, "the memory answers it from true claims"),
    "valid": Column(0, 1, "0: an empty row"),
}


class OracleObservation(
    gym.ObservationWrapper[Observation, Any, Observation], gym.utils.RecordConstructorArgs
):
    """Add what is hidden to the observation: truth, query mass, and the worth of every claim.

    ``oracle_claims`` ``(max. claims, 6)`` has truth, alone, gain, stored, considered, valid;
    ``oracle_queries`` ``(max. queries, 4)`` has mass, covered, known, valid; both are float32
    and named in ``oracle_columns``. Utilities are exact, as the environment pays them. PRIVILEGED:
    an agent that solves this and not the environment lacks information, not capacity to learn.
    Each observation evaluates as many memories as there are claims.
    """

    privileged: ClassVar[bool] = True
    oracle_columns: ClassVar[dict[str, tuple[str, ...]]] = {
        "oracle_claims": tuple(CLAIMS),
        "oracle_queries": tuple(QUERIES),
    }

    def __init__(self, env: gym.Env[Observation, Any]) -> None:
        check_memorization(env, "OracleObservation")
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        layout: Layout = env.get_wrapper_attr("layout")
        assert isinstance(env.observation_space, spaces.Dict)
        self._shapes = {
            "oracle_claims": (layout.limits.claims, len(CLAIMS)),
            "oracle_queries": (layout.limits.queries, len(QUERIES)),
        }
        added: dict[str, spaces.Space[Any]] = {
            "oracle_claims": Columns.build(CLAIMS, {}).box(layout.limits.claims),
            "oracle_queries": Columns.build(QUERIES, {}).box(layout.limits.queries),
        }
        self.observation_space = spaces.Dict({**env.observation_space.spaces, **added})

    def observation(self, observation: Observation) -> Observation:
        """Add both tables."""
        episode = episode_of(self)
        tables = {"oracle_claims": _claims(episode), "oracle_queries": _queries(episode)}
        padded = {name: np.zeros(shape, np.float32) for name, shape in self._shapes.items()}
        for name, table in tables.items():
            padded[name][: len(table)] = table
        return observation | padded


def _claims(episode: Episode) -> NDArray[Any]:
    memory = episode.memory
    each = np.eye(len(memory), dtype=bool)
    considered = np.zeros(len(memory))
    if episode.considered is not None:
        considered[episode.considered] = 1.0
    now = expected_utilities(episode, memory[None])
    columns = {
        "truth": episode.prepared.material.incidence.truth,
        "alone": expected_utilities(episode, each),
        "gain": expected_utilities(episode, memory | each) - now,
        "stored": memory,
        "considered": considered,
        "valid": np.ones(len(memory)),
    }
    return np.stack([columns[name] for name in CLAIMS], axis=1)


def _queries(episode: Episode) -> NDArray[Any]:
    mass = episode.prepared.material.incidence.probability
    stored = episode.slots.stored
    settled = [episode.account.settle(query, stored) for query in range(len(mass))]
    columns = {
        "mass": mass,
        "covered": [each.covered for each in settled],
        "known": [each.known for each in settled],
        "valid": np.ones(len(mass)),
    }
    return np.stack([np.asarray(columns[name]) for name in QUERIES], axis=1)
