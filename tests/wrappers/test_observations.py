"""Flattened and extended observations, by hand."""

import re

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.wrappers import FlattenWithColumns, OracleObservation


def material():
    claims = tuple(
        Claim(id=f"c{i}", text=f"claim {i}", truth=i != 1, cues={"style": float(i), "age": 2.0})
        for i in range(3)
    )
    items = (
        Item(id="n0", supports=(("c0",),), answers=("q0",)),
        Item(id="n1", supports=(("c1",),), answers=("q1",)),
        Item(id="n2", supports=(("c0", "c2"),), answers=("q2",)),
    )
    queries = tuple(Query(id=f"q{i}", weight=w) for i, w in enumerate((0.5, 0.3, 0.2)))
    return Material("three", claims, items, queries)


def value_of(name, observation, layout):
    """Look a column up in the arrays by its name."""
    array, row, column = re.fullmatch(r"(\w+?)(?:\[(\d+)\])?\.(.+)", name).groups()
    values = observation[array] if row is None else observation[array][int(row)]
    part = re.fullmatch(r"embedding\[(\d+)\]", column)
    of = {"claims": "claim"}.get(array, array)
    if part:
        return values[layout.slice("embedding", of)][int(part[1])]
    return values[layout.slice(column, of)][0]


@pytest.mark.parametrize("access", ["pool", "stream"])
def test_columns_say_what_each_number_is(access):
    env = MemorizationEnv(material(), capacity=2, access=access, every=1)
    flat = FlattenWithColumns(env)
    rng = np.random.default_rng(0)
    flat.reset(seed=0)
    for _ in range(3):
        row, *_ = flat.step(int(rng.choice(np.flatnonzero(flat.action_masks()))))
        assert row.shape == flat.observation_space.shape == (len(flat.columns),)
        assert row.dtype == np.float32
    observation = env._outcome()[0]
    assert len(set(flat.columns)) == len(flat.columns)
    expected = [value_of(name, observation, env.layout) for name in flat.columns]
    np.testing.assert_array_equal(row, expected)
    sizes = sum(array.size for name, array in observation.items() if name != "action_mask")
    assert sizes == row.size


def test_columns_by_hand():
    flat = FlattenWithColumns(MemorizationEnv(material(), capacity=2))
    row, _ = flat.reset(seed=0)
    assert row[flat.columns.index("claim.cues.style")] == 0
    assert row[flat.columns.index("context.free_slots")] == 1
    row, *_ = flat.step(1)
    row, *_ = flat.step(2)
    assert row[flat.columns.index("claim.cues.style")] == 2
    assert row[flat.columns.index("memory[1].cues.style")] == 1
    assert row[flat.columns.index("memory[0].cues.age")] == 2
    assert row[flat.columns.index("context.free_slots")] == 0
    assert not any("mask" in name for name in flat.columns)


def test_the_oracle_tables_by_hand():
    env = OracleObservation(MemorizationEnv(material(), capacity=2, max_claims=4, max_queries=5))
    observation, _ = env.reset(seed=0)
    np.testing.assert_allclose(
        observation["oracle_claims"],
        # truth, alone, gain, stored, considered, valid
        [[1, 0.5, 0.5, 0, 1, 1], [0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1], [0] * 6],
    )
    np.testing.assert_allclose(
        observation["oracle_queries"],
        # mass, covered, known, valid
        [[0.5, 0, 0, 1], [0.3, 0, 0, 1], [0.2, 0, 0, 1], [0] * 4, [0] * 4],
    )
    env.step(1)
    observation, *_ = env.step(2)  # c0 and the false c1 are stored, c2 is considered
    np.testing.assert_allclose(
        observation["oracle_claims"],
        [[1, 0.5, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1], [1, 0, 0.2, 0, 1, 1], [0] * 6],
        atol=1e-7,
    )
    np.testing.assert_allclose(
        observation["oracle_queries"][:3], [[0.5, 1, 1, 1], [0.3, 1, 0, 1], [0.2, 0, 0, 1]]
    )


def test_the_oracle_columns_keep_their_names_when_flattened():
    flat = FlattenWithColumns(OracleObservation(MemorizationEnv(material(), capacity=2)))
    row, _ = flat.reset(seed=0)
    assert row[flat.columns.index("oracle_claims[0].alone")] == 0.5
    assert row[flat.columns.index("oracle_queries[1].mass")] == pytest.approx(0.3)


def test_at_level_0_the_worth_of_a_claim_is_that_for_the_known_query():
    env = OracleObservation(MemorizationEnv(material(), **LEVELS["0"], capacity=2))
    seen = set()
    for seed in range(12):
        observation, _ = env.reset(seed=seed)
        known = env.unwrapped.episode.known_query
        assert observation["oracle_claims"][:, 1].tolist() == [float(known == 0), 0, 0]
        seen.add(known)
    assert seen == {0, 1, 2}
