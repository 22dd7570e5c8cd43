"""Users' own materials become environments that work in every process."""

import json
import logging
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memenvs
from memenvs.counter import uniforms
from memenvs.envs.registry import register_row
from memenvs.envs.table import TABLE
from memenvs.materials.odyssey import odyssey, odyssey_noisy


@pytest.fixture(autouse=True)
def _forget():
    """Forget what a test registered."""
    from memenvs.envs import registry
    from memenvs.materials import library

    rows, known, specs = dict(registry._rows), dict(library._REGISTERED), dict(gym.registry)
    yield
    for current, before in (
        (registry._rows, rows),
        (library._REGISTERED, known),
        (gym.registry, specs),
    ):
        current.clear()
        current.update(before)


def draw_pair(generator):
    """Draw one of two materials (an importable callable)."""
    return odyssey() if generator.random() < 0.5 else odyssey_noisy()


def test_a_file_becomes_an_environment_in_another_process(tmp_path):
    path = tmp_path / "notes.json"
    odyssey().save(path)
    identifier = memenvs.register_material("notes", path, capacity=2)
    assert identifier == "memenvs/notes-v0"
    env = gym.make(identifier, capacity=3)
    observation, _ = env.reset(seed=1)
    assert observation["memory"].shape[0] == 3
    spec = gym.spec(identifier).to_json()
    script = (
        "import sys, json, gymnasium as gym, memenvs\n"
        "spec = gym.envs.registration.EnvSpec.from_json(sys.stdin.read())\n"
        "env = gym.make(spec)\n"
        "print(env.reset(seed=1)[0]['claim'].tobytes().hex())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], input=spec, capture_output=True, text=True, check=True
    )
    env = gym.make(identifier)
    assert run.stdout.strip() == env.reset(seed=1)[0]["claim"].tobytes().hex()


@pytest.mark.parametrize("kind", ["table", "file"])
def test_spawned_workers_make_the_environments(kind, tmp_path):
    if kind == "file":
        odyssey().save(tmp_path / "notes.json")
        identifier = memenvs.register_material("notes", tmp_path / "notes.json", capacity=2)
    else:
        identifier = TABLE[0].id
    workers = gym.make_vec(
        identifier, 2, vectorization_mode="async", vector_kwargs={"context": "spawn"}
    )
    try:
        observation, _ = workers.reset(seed=3)
    finally:
        workers.close()
    for i in range(2):
        mine, _ = gym.make(identifier).reset(seed=3 + i)
        for name, array in mine.items():
            np.testing.assert_array_equal(observation[name][i], array)


def test_callables_and_materials_in_memory(caplog):
    with caplog.at_level(logging.WARNING, logger="memenvs"):
        memenvs.register_material("drawn", "memenvs.materials.odyssey:odyssey")
        memenvs.register_material("fixed", odyssey)
    assert not caplog.records
    assert gym.spec("memenvs/fixed-v0").kwargs["material"] == "memenvs.materials.odyssey:odyssey"
    with caplog.at_level(logging.WARNING, logger="memenvs"):
        memenvs.register_material("held", odyssey_noisy())
        memenvs.register_material("mixed", lambda g: draw_pair(g), max_claims=7, max_queries=8)
    assert ["this process alone" in record.message for record in caplog.records] == [True, True]
    for name in ("drawn", "fixed", "held", "mixed"):
        spec = gym.spec(f"memenvs/{name}-v0")
        json.loads(spec.to_json())
        env = gym.make(f"memenvs/{name}-v0", capacity=2)
        assert env.reset(seed=0)[0] in env.observation_space
    assert {env.reset(seed=s) and env.unwrapped.material.name for s in range(12)} == {
        "odyssey",
        "odyssey-noisy",
    }


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("odyssey", odyssey), "'odyssey' is registered already"),
        (("a/b", odyssey), "'a/b' cannot name a material"),
        (("", odyssey), "'' cannot name a material"),
        (("-x", odyssey), "'-x' is the name of an option"),
        (("hidden-train-6", odyssey), "'hidden-train-6' is the name of a generated material"),
        (("new", "nowhere.json"), "'nowhere.json' is neither a registered material"),
        (("new", "json:nothing"), "'json:nothing' cannot be imported"),
        (("new", lambda: 3), "gave a int, not a Material"),
    ],
)
def test_what_cannot_be_registered_is_refused_and_leaves_nothing(arguments, problem):
    before = memenvs.registered_envs(), set(gym.registry)
    with pytest.raises((ValueError, TypeError), match=problem):
        memenvs.register_material(*arguments)
    assert (memenvs.registered_envs(), set(gym.registry)) == before


def test_bad_settings_and_levels_show_at_registration():
    with pytest.raises(ValueError, match="level='3' is unknown; choose from 0, 1a, 1b"):
        memenvs.register_material("new", odyssey, level="3")
    with pytest.raises(ValueError, match="capacity=0 is not a positive integer"):
        memenvs.register_material("new", odyssey, capacity=0)
    with pytest.raises(TypeError, match="colour"):
        memenvs.register_material("new", odyssey, colour="red")
    assert "memenvs/new-v0" not in gym.registry


def test_a_duplicate_id_is_refused():
    with pytest.raises(ValueError, match="'memenvs/Odyssey-v0' is registered already"):
        register_row(TABLE[0])


def test_ids_of_the_table_are_distinct_and_all_registered():
    ids = [row.id for row in TABLE]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= set(gym.registry)
    assert memenvs.registered_envs()[: len(TABLE)] == TABLE


def test_counter_based_numbers_are_uniform_and_do_not_depend_on_the_batch():
    drawn = uniforms(np.uint64(7), 1, np.arange(200_000))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts = np.histogram(drawn, bins=50, range=(0, 1))[0]
    # Chi-squared with 49 degrees of freedom: 99.99 % lie under 94.
    assert ((counts - 4000) ** 2 / 4000).sum() < 94
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01
    other = uniforms(np.uint64(8), 1, np.arange(200_000))
    assert abs(np.corrcoef(drawn, other)[0, 1]) < 0.01


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), st.integers(0, 5))
def test_counter_based_numbers_in_batches_equal_single_ones(keys, stream):
    batch = uniforms(np.array(keys, dtype=np.uint64)[:, None], stream, np.arange(3))
    for row, key in zip(batch, keys, strict=True):
        for counter, number in enumerate(row):
            assert uniforms(key, stream, counter) == number
