"""Materials of one environment: files of many, given ones, and those that are too big."""

import pytest

import memenvs
from four import material
from memenvs import Claim, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv


def test_files_of_many_materials_are_drawn_from_and_chosen_from(tmp_path):
    other = material(truth=(True,) * 4)
    other = Material("other", other.claims[:3], other.items[:2], other.queries)
    path = tmp_path / "two.jsonl"
    memenvs.save_materials([material(), other], path)
    env = MemorizationEnv(str(path), capacity=2)
    names = {env.reset(seed=seed) and env.material.name for seed in range(20)}
    assert names == {"four", "other"}
    observation, _ = env.reset(options={"material": 1})
    assert env.material == other
    assert observation in env.observation_space
    env.reset(options={"material": material()})
    assert env.material.name == "four"


def test_a_material_beyond_the_maxima_is_refused_with_the_remedy():
    env = MemorizationEnv("odyssey")
    odd = Material(
        "big", tuple(Claim(id=f"c{i}", text="x") for i in range(9)), (), (Query(id="q"),)
    )
    with pytest.raises(memenvs.MaterialError, match=r"big: has 9 claims .* max_claims=9"):
        env.reset(options={"material": odd})
    env = MemorizationEnv("odyssey", max_claims=9)
    observation, _ = env.reset(options={"material": odd})
    assert observation in env.observation_space
