"""What a training puts around its batch: shaped rewards, hidden features, stages."""

import gymnasium as gym
import numpy as np
import pytest

from memenvs.policies.rules.simple import nth_legal
from memenvs.train.learn.batches import ExactDifference, FeatureDropout, Stages, shaped
from memenvs.train.vec_env import make_vec_env
from memenvs.wrappers import ExactDifferenceShaping


@pytest.mark.parametrize("name", ["Hidden", "EndToEnd", "Composite"])
def test_the_shaping_of_a_batch_is_that_of_the_wrapper(name: str) -> None:
    batch = ExactDifference(make_vec_env(f"memenvs/{name}-v0", 3, seed=5), weight=0.7)
    singles = [ExactDifferenceShaping(gym.make(f"memenvs/{name}-v0"), weight=0.7) for _ in range(3)]
    observation = batch.reset()
    for number, single in enumerate(singles):
        single.reset(seed=5 + number)
    generator = np.random.default_rng(0)
    for _ in range(70):  # two episodes, and the reset between them
        actions = nth_legal(observation["action_mask"].astype(bool), generator.random(3))
        observation, rewards, dones, _ = batch.step(actions)
        for number, single in enumerate(singles):
            _, reward, over, _, _ = single.step(actions[number])
            assert rewards[number] == pytest.approx(reward, abs=1e-6)
            assert over == dones[number]
            if over:
                single.reset()


def test_unknown_and_scalar_shapings_are_refused() -> None:
    batch = make_vec_env("memenvs/Hidden-v0", 1)
    with pytest.raises(ValueError, match="did you mean 'exact-difference'"):
        shaped(batch, "exact-diference", 1.0)
    with pytest.raises(ValueError, match="works on single environments only"):
        shaped(batch, "leave-one-out", 1.0)
    with pytest.raises(ValueError, match="cannot be used with disclosure"):
        shaped(make_vec_env("memenvs/SingleQuery-v0", 1), "exact-difference", 1.0)


def test_dropped_features_stay_dropped_for_an_episode_and_the_rest_is_scaled() -> None:
    plain = make_vec_env("memenvs/Hidden-v0", 16)
    dropped = FeatureDropout(make_vec_env("memenvs/Hidden-v0", 16), 0.25)
    layout = plain.get_attr("layout")[0]
    plain.seed(3)
    dropped.seed(3)
    shown, seen = plain.reset(), dropped.reset()
    valid, cue = layout.index("valid"), layout.slice("cues")
    hidden = []
    for _ in range(31):
        for array in ("claim", "memory"):
            whole, part = shown[array], seen[array]
            assert np.array_equal(whole[..., valid], part[..., valid])
            there = whole[..., cue] != 0
            factor = part[..., cue][there] / whole[..., cue][there]
            assert np.all(np.isclose(factor, 0) | np.isclose(factor, 1 / 0.75))
        hidden.append(seen["claim"][:, cue] == 0)
        actions = np.zeros(16, dtype=np.int64)
        shown, _, _, _ = plain.step(actions)
        seen, _, _, _ = dropped.step(actions)
    assert all(np.array_equal(hidden[0], later) for later in hidden)
    assert 0.1 < np.mean(hidden[0]) < 0.45
    seen, _, dones, _ = dropped.step(np.zeros(16, dtype=np.int64))
    assert dones.all()
    assert not np.array_equal(seen["claim"][:, cue] == 0, hidden[0])


def test_stages_change_at_a_reset() -> None:
    batch = Stages([make_vec_env(f"memenvs/{name}-v0", 2) for name in ("Readable", "Hidden")])
    assert batch.get_attr("materials")[0].fixed.tier.name == "readable"
    batch.enter(1)
    batch.reset()
    assert batch.get_attr("materials")[0].fixed.tier.name == "hidden"
