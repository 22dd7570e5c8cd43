"""The native batch plays what a SyncVectorEnv of scalar environments plays, step by step."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memenvs
from batches import pair, random_material
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.batch import compiled
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.testing.batches import MODES, assert_same_play

ROWS = [row for row in memenvs.registered_envs() if row.vector_entry_point]


@st.composite
def parameters(draw):
    """Any settings of the process that go together."""
    access = draw(st.sampled_from(["stream", "pool"]))
    kwargs = {
        "access": access,
        "action": draw(st.sampled_from(["slots", "priority"])) if access == "stream" else "slots",
        "disclosure": draw(st.sampled_from(["one", "all", "settled"])),
        "utility": draw(st.sampled_from(["coverage", "precision", "end-to-end"])),
        "settlement": draw(st.sampled_from(["sampled", "expected"])),
        "feedback": draw(st.sampled_from(["claims", "outcome", "none"])),
        "every": draw(st.sampled_from([None, 1, 2, 3])),
        "queries": draw(st.sampled_from([1, 2, 20])),
        "closing": draw(st.sampled_from([1, 3, 15, 40])),
        "capacity": draw(st.integers(1, 5)),
        "clearing": draw(st.booleans()),
        "budget": draw(st.sampled_from([None, 2.0, 4.5])),
    }
    if access == "pool":
        kwargs["decisions"] = draw(st.sampled_from([None, 3, 9]))
    return kwargs


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**32 - 1),
    parameters(),
    st.sampled_from(MODES),
    st.booleans(),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([None, 4]),
    st.booleans(),
)
def test_any_settings_play_alike(seed, kwargs, mode, certain, conflicts, limit, tables):
    rng = np.random.default_rng(seed)
    materials = [
        random_material(rng, certain=certain, conflicts=conflicts)
        for _ in range(int(rng.integers(1, 5)))
    ]
    with pytest.MonkeyPatch.context() as patch:
        if not tables:  # as for large materials; pools always have tables
            patch.setattr(compiled, "TABLE_CELLS", 0)
        scalar, native = pair(materials, 4, mode, limit, **kwargs)
        assert_same_play(scalar, native, 26, seed=seed % 1000, illegal=0.1)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_registered_environment_has_a_native_batch(row):
    native = type(gym.make_vec(row.id, num_envs=2))
    assert f"{native.__module__}:{native.__name__}" == row.vector_entry_point


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [row for row in ROWS if "large" in row.tags], ids=lambda row: row.id
)
def test_whole_episodes_of_large_materials_play_alike(row):
    native = gym.make_vec(row.id, num_envs=2, autoreset_mode=AutoresetMode.SAME_STEP)
    scalar = SyncVectorEnv([lambda: gym.make(row.id)] * 2, autoreset_mode="SameStep")
    assert_same_play(scalar, native, native.layout.limits.claims + 9, seed=3, illegal=0.01)


@pytest.mark.parametrize("level", LEVELS)
def test_the_size_of_a_batch_does_not_change_an_episode(level):
    def episodes(number, first):
        env = MemorizationVectorEnv("hidden", num_envs=number, capacity=4, **LEVELS[level])
        observation, info = env.reset(seed=first)
        rng = [np.random.default_rng(first + i) for i in range(number)]
        seen = []
        for _ in range(70):
            masks = info["action_mask"]
            actions = [int(r.choice(np.flatnonzero(m))) for r, m in zip(rng, masks, strict=True)]
            observation, reward, *_, info = env.step(np.array(actions))
            seen.append({**{k: v.copy() for k, v in observation.items()}, "reward": reward})
        return seen

    together = episodes(5, 10)
    for i in (0, 3):
        alone = episodes(1, 10 + i)
        for mine, other in zip(together, alone, strict=True):
            for name in mine:
                np.testing.assert_array_equal(mine[name][i], other[name][0])
