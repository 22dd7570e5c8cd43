"""What `bayes-reader` knows of settled queries against the materials, and what it gains in play."""

import gymnasium as gym
import numpy as np
import pytest

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.resolve import policy_class
from memenvs.train.learn.environments import materials_of, named
from memenvs.train.play import play
from memenvs.train.units import units_of

ANSWERED, ASKED, COUNT = 3, 5, 6  # places in the state


def unit(vectors):
    vectors = np.array(vectors)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.mark.parametrize("reader", ["similarity:1", "similarity:3"])
def test_what_was_read_of_a_query_settled_alone_is_known_exactly(reader):
    env = gym.make("memenvs/ReadLimited-v0", split="validation", reader=reader, every=1).unwrapped
    policy = make("bayes-reader", env)
    columns, valid = env.layout.slice("embedding"), env.layout.index("valid")
    answering = silent = 0
    for seed in range(4):
        observation, _ = env.reset(seed=seed)
        material = env.material
        claims = unit([claim.embedding for claim in material.claims])
        queries = unit([query.embedding for query in material.queries])
        told = {item.supports[0][0]: set(item.answers) for item in material.items}
        over, state, before = False, None, 0
        while not over:
            action, state = policy.predict(observation, state)
            rows = observation["memory"]
            slots = np.flatnonzero(rows[:, valid] == 1)
            count = int(state[COUNT][0])
            if count == before + 1 and len(slots):
                asked = state[ASKED][0, before]
                query = int((queries @ asked).argmax())
                stored = (rows[slots][:, columns] @ claims.T).argmax(axis=1)
                ranked = np.argsort(-(claims[stored] @ queries[query]), kind="stable")
                for place in ranked[: int(reader[-1])]:
                    name = material.claims[stored[place]].id
                    answers = material.queries[query].id in told[name]
                    assert state[ANSWERED][0, slots[place], before] == float(answers)
                    answering, silent = answering + answers, silent + (not answers)
                    if answers:
                        break  # it was named; of the rest nothing is said
            before = count
            observation, _, over, _, _ = env.step(action)
    assert answering > 15
    assert silent > 15


def test_a_query_that_is_asked_again_is_known_still():
    env = gym.make("memenvs/ReadLimited-v0", split="validation", every=1).unwrapped
    policy = make("bayes-reader", env)
    again = 0
    for seed in range(4):
        observation, _ = env.reset(seed=seed)
        over, state = False, None
        while not over:
            action, state = policy.predict(observation, state)
            count = int(state[COUNT][0])
            asked, answered = state[ASKED][0, :count], state[ANSWERED][0, :-1, :count]
            same = np.triu(asked @ asked.T > 0.999, 1)
            for first, second in zip(*np.nonzero(same), strict=True):
                known = np.isin(answered[:, first], (0.0, 1.0))
                assert (answered[known, second] == answered[known, first]).all()
                again += int(known.sum())
            observation, _, over, _, _ = env.step(action)
    assert again > 20


def test_it_gains_where_one_item_is_read():
    settings = dict(gym.spec("memenvs/ReadLimited-v0").kwargs) | {"split": "validation"}

    def reached(name):
        env = MemorizationVectorEnv(**settings, num_envs=48)
        instances = named(materials_of(env.materials, 96))
        ended = play(env, make(name, env), units_of(instances, 96))
        assert not any(each.values["illegal"] for each in ended)
        return np.array([each.values["utility"] for each in ended])

    gain = reached("bayes-reader") - reached("trust")
    assert gain.mean() > 2 * gain.std() / np.sqrt(len(gain))


def test_it_plays_materials_of_no_tier_and_of_fresh_worlds():
    for material, capacity in (("odyssey-noisy", 3), ("worlds", 4)):
        env = MemorizationEnv(material, capacity=capacity, every=2, reader="similarity:1")
        policy = make("bayes-reader", env)
        observation, _ = env.reset(seed=0)
        over, state = False, None
        while not over:
            action, state = policy.predict(observation, state)
            observation, _, over, _, info = env.step(action)
        assert info["illegal_action"] == 0
        assert info["size"] == capacity


def test_it_is_labelled_and_says_what_it_needs():
    assert policy_class("bayes-reader").knows == "rates"
    assert not policy_class("bayes-reader").privileged
    with pytest.raises(ValueError, match="reader='bm25:1'"):
        make("bayes-reader", gym.make("memenvs/OdysseyRead1-v0", reader="bm25:1"))
