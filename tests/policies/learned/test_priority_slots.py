"""A policy of priorities in an environment of slots plays the very episodes of priorities."""

import numpy as np
import pytest

from batches import random_material
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.games.shared_writers import SharedWriters
from memenvs.policies import load
from memenvs.policies.base import Policy
from memenvs.policies.learned.networks.estimator import SettlementEstimator
from memenvs.policies.learned.priority_slots import PrioritySlots
from saved_models import make_env, save_estimator, train

STATE = 2  # arrays of its own in a state


class Crowded(Policy):
    """Few priorities, and so many ties; they depend on all that is shown, and on a state."""

    def start(self, episodes):
        return (np.zeros(len(episodes)),)

    def act(self, observation, masks, state):
        assert masks.shape == (len(masks), 1)
        shown = [observation[name].reshape(len(masks), -1) for name in sorted(observation)]
        seen = np.concatenate(shown, axis=1).astype(np.float64)
        digest = (seen * np.arange(1, seen.shape[1] + 1)).sum(axis=1) + state[0]
        priority = np.rint(2 * np.sin(1001 * digest)) / 1.5  # some beyond [-1, 1]
        return priority.astype(np.float32)[:, None], (state[0] + 1,)


def step(env, policy, observation, state):
    """Play a step in one environment: what it shows, pays and holds."""
    action, state = policy.predict(observation, state)
    observation, reward, over, _, info = env.step(action)
    episode = env.episode
    held = episode.slots.claims.tolist(), episode.slots.cost, reward, info["illegal_action"]
    return observation, state, over, held


@pytest.mark.parametrize("seed", range(30))
def test_slots_are_filled_as_by_priorities_step_by_step(seed):
    rng = np.random.default_rng(seed)
    material = random_material(rng, claims=24)
    settings = {"capacity": int(rng.integers(1, 7)), "every": 3, "queries": 2}
    slots = MemorizationEnv(material, strict=True, **settings)
    ranked = MemorizationEnv(material, action="priority", **settings)
    policies = PrioritySlots(slots, 0, Crowded), Crowded(ranked)
    states, seen = [None, None], [env.reset(seed=seed)[0] for env in (slots, ranked)]
    replaced, over = False, False
    while not over:
        shown = policies[0]._shown(
            {n: a[None] for n, a in seen[0].items()}, given(states[0], slots)
        )
        for name, array in seen[1].items():
            np.testing.assert_array_equal(shown[name][0], array)
        before = slots.episode.slots.occupied.all()
        held = [None, None]
        for place, env in enumerate((slots, ranked)):
            seen[place], states[place], over, held[place] = step(
                env, policies[place], seen[place], states[place]
            )
        assert held[0] == held[1]
        replaced |= before and slots.episode.slots.written.max() == slots.episode.decision - 1
    assert replaced


def given(state, env):
    return np.zeros((1, env.rules.capacity), dtype=np.float32) if state is None else state[0]


def test_a_batch_begins_every_episode_with_an_empty_memory():
    def finals(**settings):
        env = MemorizationVectorEnv(
            "hidden", capacity=4, num_envs=3, autoreset_mode="SameStep", **settings
        )
        policy = Crowded(env) if settings else PrioritySlots(env, 0, Crowded)
        observation, state, begun = env.reset(seed=5)[0], None, np.ones(3, dtype=bool)
        for _ in range(80):
            actions, state = policy.predict(observation, state, begun)
            observation, rewards, begun, _, infos = env.step(actions)
            yield rewards.tolist(), observation["context"].tolist(), infos["illegal_action"].sum()

    assert list(finals()) == list(finals(action="priority"))


MODELS = {"priority": ("ppo", "priority"), "scorer": ("a2c", "scorer")}
MODELS |= {"lstm": ("recurrent-ppo", "mlp")}
EASY = {"capacity": 3, "every": 2}


@pytest.mark.parametrize("name", [*MODELS, "estimator"])
def test_a_saved_model_plays_both(name, tmp_path):
    path = tmp_path / "best_model.zip"
    ranked = make_env("readable", action="priority", **EASY)
    if name == "estimator":
        save_estimator(path, SettlementEstimator(ranked.get_attr("layout")[0], 8), ranked)
    else:
        algorithm, network = MODELS[name]
        train(path, "readable", algorithm, network, action="priority", **EASY)
    slots, played = make_env("readable", **EASY), []
    for env in (slots, ranked):
        policy, state, begun = load(path, env), None, np.ones(4, dtype=bool)
        env.seed(3)
        observation, earned = env.reset(), []
        for _ in range(70):
            actions, state = policy.predict(observation, state, begun)
            observation, rewards, begun, infos = env.step(actions)
            earned.append((rewards.tolist(), [info.get("illegal_action", 0) for info in infos]))
        played.append(earned)
    assert isinstance(load(path, slots), PrioritySlots)
    assert played[0] == played[1]


def test_under_a_budget_it_has_to_be_kept_by_the_environment(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, "readable", "ppo", "priority", action="priority", **EASY)
    with pytest.raises(ValueError, match="compare it with --action priority"):
        load(path, MemorizationEnv("readable", budget=4.0, **EASY))
    load(path, MemorizationEnv("readable", budget=4.0, action="priority", **EASY))
    with pytest.raises(ValueError, match="access='stream'"):
        load(path, MemorizationEnv("readable", access="pool", **EASY))


def test_a_memory_that_others_write_is_refused():
    game = SharedWriters("readable", writers=2, num_envs=1, **EASY)
    observations, _ = game.reset(seed=0)
    policies = {name: PrioritySlots(game, 0, Crowded) for name in observations}
    states = dict.fromkeys(policies)
    actions = {}
    for name, policy in policies.items():
        actions[name], states[name] = policy.predict(observations[name], states[name])
    observations, *_ = game.step(actions)
    with pytest.raises(ValueError, match="knows no priorities of them"):
        policies["writer_0"].predict(observations["writer_0"], states["writer_0"])
