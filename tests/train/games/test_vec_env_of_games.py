"""The agents of a game as stable-baselines3 sees them: masks, truncation, statistics, learning."""

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from memenvs.games import asker_writer_v0, poisoner_writer_v0, shared_writers_v0
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import make
from memenvs.policies.learned.mixture import Mixture
from memenvs.policies.learned.networks.opponent import OpponentPolicy
from memenvs.policies.learned.saved import column_names
from memenvs.policies.opponents.askers import ASKERS
from memenvs.policies.opponents.opponents import opponent_columns
from memenvs.policies.opponents.poisoners import POISONERS
from memenvs.train.games.vec_env import GameVecEnv

HIDDEN = list(TIERS["hidden"].split("train")[:4])


def steps(env, count, rng):
    """Act legally at random; gives every step's rewards, ends and infos."""
    env.seed(3)
    env.reset()
    for _ in range(count):
        masks = get_action_masks(env)
        env.step_async((masks * rng.random(masks.shape)).argmax(axis=1))
        yield env.step_wait()


def test_writers_share_one_model_and_are_paid_to_the_end():
    game = shared_writers_v0.vector_env(HIDDEN, num_envs=3, writers=2)
    env = GameVecEnv(game, ["writer_0", "writer_1"])
    assert env.num_envs == 6
    assert is_masking_supported(env)
    total, ended = np.zeros(6), 0
    for _, rewards, done, infos in steps(env, 40, np.random.default_rng(0)):
        total += rewards
        np.testing.assert_array_equal(done[:3], done[3:])  # both agents of an episode end together
        for row in np.flatnonzero(done).tolist():
            assert infos[row]["episode"]["r"] == pytest.approx(total[row])
            assert infos[row]["settled"] == pytest.approx(total[row])  # the team's, to the end
            assert infos[row]["TimeLimit.truncated"] is False
            assert infos[row]["illegal_action"] == 0
            assert set(infos[row]["terminal_observation"]) == set(env.observation_space.spaces)
            total[row] = 0.0
            ended += 1
    assert ended >= 6


def test_a_time_limit_is_told_as_one():
    game = shared_writers_v0.vector_env(HIDDEN, num_envs=2, writers=2, max_cycles=5)
    env = GameVecEnv(game, game.possible_agents)
    told = [(done.all(), infos) for _, _, done, infos in steps(env, 5, np.random.default_rng(0))]
    assert [over for over, _ in told] == [False] * 4 + [True]
    assert all(info["TimeLimit.truncated"] for info in told[-1][1])


def test_an_opponent_plays_as_it_would_in_the_game():
    rules = {"num_envs": 2, "capacity": 6}
    game = poisoner_writer_v0.vector_env(HIDDEN, **rules)
    env = GameVecEnv(game, ["writer_0"], {"poisoner_0": POISONERS["imitate"](game)})
    other = poisoner_writer_v0.vector_env(HIDDEN, **rules)
    poisoner, state, begun = POISONERS["imitate"](other), None, np.ones(2, dtype=bool)
    seen, _ = other.reset(seed=3)
    rng = np.random.default_rng(1)
    for observation, rewards, done, _ in steps(env, 60, rng):
        attack, state = poisoner.predict(seen["poisoner_0"], state, begun)
        seen, paid, _, _, infos = other.step({"writer_0": env._actions, "poisoner_0": attack})
        begun = infos["writer_0"].get("final", np.zeros(2, dtype=bool))
        np.testing.assert_array_equal(rewards, paid["writer_0"])
        np.testing.assert_array_equal(done, begun)
        for name, array in observation.items():
            np.testing.assert_array_equal(array, seen["writer_0"][name])


@pytest.mark.parametrize("agent", ["poisoner_0", "asker_0"])
def test_an_opponent_is_trained_and_acts_legally(agent):
    module = poisoner_writer_v0 if agent == "poisoner_0" else asker_writer_v0
    game = module.vector_env(HIDDEN, num_envs=4)
    env = GameVecEnv(game, [agent], {"writer_0": make("fifo", game)})
    model = MaskablePPO(OpponentPolicy, env, n_steps=32, batch_size=64, seed=0, device="cpu")
    before = {name: p.detach().clone() for name, p in model.policy.named_parameters()}
    model.learn(256)
    still = [n for n, p in model.policy.named_parameters() if p.equal(before[n])]
    assert not still
    assert not game.illegal[agent].any()


def test_a_seat_without_an_opponent_is_refused():
    game = asker_writer_v0.vector_env(HIDDEN, num_envs=1)
    with pytest.raises(ValueError, match="every other agent needs an opponent"):
        GameVecEnv(game, ["writer_0"])
    honest = {"asker_0": ASKERS["honest"](game)}
    assert GameVecEnv(game, ["writer_0"], honest).num_envs == 1


def test_seats_play_the_materials_they_are_given_once():
    game = shared_writers_v0.vector_env(HIDDEN, num_envs=3, writers=2)
    env = GameVecEnv(game, game.possible_agents)
    assert (env.num_envs, env.episodes) == (6, 3)
    wanted = [HIDDEN[place] for place in (2, 0, 2)]
    env.give(wanted, [5, 6, 5])
    seen = env.reset()
    assert [game.material(i).name for i in range(3)] == [m.name for m in wanted]
    for name, array in seen.items():
        np.testing.assert_array_equal(array[[0, 3]], array[[2, 5]], err_msg=name)
        assert name != "claim" or not np.array_equal(array[0], array[1])
    env.seed(9)
    fresh = GameVecEnv(shared_writers_v0.vector_env(HIDDEN, num_envs=3, writers=2), env.agents)
    fresh.seed(9)
    fresh_seen = fresh.reset()
    for name, array in env.reset().items():
        np.testing.assert_array_equal(array, fresh_seen[name])


def test_the_seed_of_a_reset_decides_what_opponents_by_chance_do():
    def attacks(env):
        seen = []
        for _, rewards, _, _ in steps(env, 30, np.random.default_rng(2)):
            seen.append((env.game.used.tolist(), rewards.tolist()))
        return seen

    game = poisoner_writer_v0.vector_env(HIDDEN, num_envs=4)
    poisoners = Mixture([POISONERS["random"](game), POISONERS["imitate"](game)])
    env = GameVecEnv(game, ["writer_0"], {"poisoner_0": poisoners})
    first = attacks(env)
    assert first == attacks(env)
    assert first[-1][0] != [0] * 4


def test_columns_are_those_of_the_seat():
    game = asker_writer_v0.vector_env(HIDDEN, num_envs=1)
    writer = GameVecEnv(game, ["writer_0"], {"asker_0": ASKERS["honest"](game)})
    asker = GameVecEnv(game, ["asker_0"], {"writer_0": make("fifo", game)})
    assert writer.columns == column_names(game.layout)
    assert asker.columns == opponent_columns(game)
    assert asker.columns["queries"] == [
        "embedding*16",
        "weight",
        "answered",
        "missed",
        "told",
        "valid",
    ]
    assert writer.decisions == asker.decisions == max(len(m.claims) for m in HIDDEN)
