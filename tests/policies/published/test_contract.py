"""What holds for every memory in use: capacity, masks, seeds, batches, variants, constants."""

import numpy as np
import pytest

from memenvs import Material
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.materials.library import find_materials
from memenvs.policies import POLICIES, make, policy_class
from memenvs.policies.published import TODAY
from memenvs.policies.published.books import Books
from memenvs.policies.published.parameters import TABLE
from memenvs.policies.published.store import KEPT
from memories import told
from players import SETTINGS, material, run

GENERATED = list(find_materials("readable", "train", 4))


def environment(kind, of=GENERATED):
    return MemorizationEnv(of, capacity=5, strict=True, **SETTINGS[kind])


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("name", TODAY)
def test_masks_and_capacity_are_respected(name, kind):
    env = environment(kind)  # strict: an illegal action raises
    policy = make(name, env)
    for seed in range(2):
        history = run(policy, env, seed)  # asserts capacity and masks at every step
        assert history[-1]


@pytest.mark.parametrize("capacity", [1, 2, 100])
@pytest.mark.parametrize("name", TODAY)
def test_any_capacity_will_do(name, capacity):
    env = MemorizationEnv(GENERATED[0], capacity=capacity, strict=True, every=2)
    assert run(make(name, env), env)[-1]


@pytest.mark.parametrize("kind", ["stream", "pool", "priority"])
@pytest.mark.parametrize("name", TODAY)
def test_equal_seeds_give_equal_runs_and_a_batch_equals_singles(name, kind):
    env = environment(kind)
    policy = make(name, env, seed=5)
    singles = [run(policy, env, seed) for seed in range(3)]
    assert run(make(name, env, seed=5), env, 0) == singles[0]

    envs = [environment(kind) for _ in range(3)]
    batch = make(name, envs[0], seed=5)
    observations = [e.reset(seed=seed)[0] for seed, e in enumerate(envs)]
    state, start, histories = None, np.ones(3, dtype=bool), [[] for _ in envs]
    while not all(e.episode.is_over() for e in envs):
        stacked = {key: np.stack([o[key] for o in observations]) for key in observations[0]}
        actions, state = batch.predict(stacked, state, start)
        start = np.zeros(3, dtype=bool)
        for i, e in enumerate(envs):
            if not e.episode.is_over():
                observations[i], *_ = e.step(actions[i])
                histories[i].append(np.flatnonzero(e.memory).tolist())
    assert histories == singles


@pytest.mark.parametrize("name", TODAY)
def test_the_native_batch_is_played_as_single_environments_are(name):
    settings = {"material": GENERATED, "capacity": 4, "strict": True, **SETTINGS["stream"]}
    batch = MemorizationVectorEnv(num_envs=3, **settings)
    observation, _ = batch.reset(seed=7)
    policy, state, paid = make(name, batch), None, []
    for _ in GENERATED[0].claims:
        actions, state = policy.predict(observation, state)
        observation, rewards, *_ = batch.step(actions)
        paid.append(rewards.tolist())
    for i in range(3):
        env = MemorizationEnv(**settings)
        observation, _ = env.reset(seed=7 + i)
        single, state, rewards = make(name, env), None, []
        for _ in GENERATED[0].claims:
            action, state = single.predict(observation, state)
            observation, reward, *_ = env.step(action)
            rewards.append(reward)
        assert rewards == [step[i] for step in paid]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("kind", ["stream", "pool"])
@pytest.mark.parametrize("name", TODAY)
def test_the_next_episode_of_a_native_batch_begins_anew(name, kind, mode):
    """With SB3's ``episode_start=done``, which on the next step comes an observation too early."""
    settings = {"material": GENERATED, "capacity": 4, **SETTINGS[kind]}
    played = [two_episodes(name, MemorizationEnv(**settings), 7 + i) for i in range(2)]
    batch = MemorizationVectorEnv(num_envs=2, autoreset_mode=mode, **settings)
    observation, _ = batch.reset(seed=7)
    policy, state, starts = make(name, batch), None, np.ones(2, dtype=bool)
    found = [[], []]
    while min(map(len, found)) < max(map(len, played)):
        actions, state = policy.predict(observation, state, starts)
        resetting = starts & (mode == "NextStep") & (len(found[0]) > 0)
        void = Books(*state[:KEPT]).void
        observation, rewards, terminated, truncated, _ = batch.step(actions)
        starts = terminated | truncated
        for i in np.flatnonzero(~resetting):
            found[i].append((actions[i], void[i].tolist(), rewards[i]))
    for alone, together in zip(played, found, strict=True):
        assert together[: len(alone)] == alone


def two_episodes(name, env, seed):
    """Actions, what is given up, and rewards of two episodes, each begun with no state."""
    policy, history = make(name, env), []
    for given in (seed, None):
        observation, _ = env.reset(seed=given)
        state, over = None, False
        while not over:
            action, state = policy.predict(observation, state)
            void = Books(*state[:KEPT]).void[0].tolist()
            observation, reward, over, _, _ = env.step(action)
            history.append((action, void, reward))
    return history


@pytest.mark.parametrize("name", TODAY)
def test_an_episode_knows_nothing_of_the_one_before(name):
    env = environment("stream")
    policy = make(name, env)
    observation, _ = env.reset(seed=1)
    state = None
    for _ in range(20):
        action, state = policy.predict(observation, state)
        observation, *_ = env.step(action)
    observation, _ = env.reset(seed=2)
    start, over, history = True, False, []
    while not over:
        action, state = policy.predict(observation, state, np.array([start]))
        observation, _, over, _, _ = env.step(action)
        start = False
        history.append(np.flatnonzero(env.memory).tolist())
    assert history == run(make(name, env), env, 2)


@pytest.mark.parametrize("name", TODAY)
def test_truth_is_not_looked_at(name):
    """Before the first settlement, equal claims of other truths are treated alike."""
    honest = told(["a", "b", "a30", "c", "d", "b20", "e", "c40"], answering=range(8))
    lying = Material(
        "lying",
        tuple(type(c)(**{**fields(c), "truth": i % 2 == 0}) for i, c in enumerate(honest.claims)),
        honest.items,
        honest.queries,
    )
    histories = []
    for each in (honest, lying):
        env = MemorizationEnv(each, capacity=3, strict=True)
        histories.append(run(make(name, env), env))
    assert histories[0] == histories[1]


def fields(claim):
    return {name: getattr(claim, name) for name in claim.__dataclass_fields__}


def test_a_claim_that_would_not_be_written_has_the_least_priority():
    env = MemorizationEnv(told(["a", "b", "a", "c"]), capacity=3, action="priority")
    policy, state, given = make("mem0", env), None, []
    observation, _ = env.reset(seed=0)
    for _ in range(4):
        action, state = policy.predict(observation, state)
        observation, *_ = env.step(action)
        given.append(float(action[0]))
    assert given[2] == -1.0  # equal to the first
    assert 0.0 == given[0] < given[1] < given[3]  # else the newest is worth most


def test_variants():
    env = MemorizationEnv(material(), capacity=3)
    assert make("memorybank", env).variant == "paper"
    assert make("memorybank:as-coded", env).variant == "as-coded"
    assert policy_class("mem0:legacy") is policy_class("mem0")
    with pytest.raises(
        ValueError, match="'mem0' has no variant 'old'; choose from current, legacy"
    ):
        make("mem0:old", env)
    with pytest.raises(ValueError, match="'letta' has no variant 'x'; it has none"):
        make("letta:x", env)
    with pytest.raises(ValueError, match="'fifo' has no variant 'x'"):
        make("fifo:x", env)


def test_constants_are_unique_and_belong_to_a_system():
    names = [(row.system, row.name) for row in TABLE]
    assert len(set(names)) == len(names)
    systems = {row.system.partition(":")[0] for row in TABLE} - {"clock", "judge"}
    assert systems <= set(POLICIES)
    own = {"clock", "judge", "hipporag"}  # those with a number that stands in for something
    assert {row.system for row in TABLE if row.source == "stand-in"} == own
