"""What is entered of settled queries, against the materials."""

import gymnasium as gym
import numpy as np
import pytest

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies.learned.networks.asked import ANSWERS, SILENT, UNKNOWN, Questions
from memenvs.policies.learned.networks.history import History


def answered_by_claims(material):
    """Which claims answer which queries, alone: ``(E, Q)``, from the records."""
    claims = {claim.id: place for place, claim in enumerate(material.claims)}
    queries = {query.id: place for place, query in enumerate(material.queries)}
    found = np.zeros((len(claims), len(queries)), dtype=bool)
    for item in material.items:
        found[claims[item.supports[0][0]], [queries[query] for query in item.answers]] = True
    return found


def batched(observation):
    return {name: np.asarray(array)[None] for name, array in observation.items()}


@pytest.mark.parametrize("reader", ["similarity:1", "similarity:3", "all"])
def test_what_is_known_is_so(reader):
    env = gym.make("memenvs/ReadLimited-v0", split="validation", reader=reader).unwrapped
    history, questions = History(env.layout, 6), Questions(env.layout, env.rules)
    rng, told = np.random.default_rng(0), {ANSWERS: 0, SILENT: 0}
    for seed in range(6):
        observation, _ = env.reset(seed=seed)
        material, answers = env.material, answered_by_claims(env.material)
        vectors = np.array([query.embedding for query in material.queries])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        read, asked, over = history.start(1), questions.start(1), False
        while True:
            before, read = read, history.enter(read, batched(observation))
            asked = questions.enter(asked, before, read, batched(observation))
            if over:
                break
            action = rng.choice(np.flatnonzero(env.action_masks()))
            observation, _, over, _, _ = env.step(action)
        assert asked.size[0] == 30  # 15 between the decisions, 15 at the end
        assert (asked.known[0, :, 15:] == UNKNOWN).all()  # these were settled together
        similarity = vectors @ asked.vectors[0].T
        np.testing.assert_allclose(similarity.max(axis=0), 1.0, atol=1e-5)
        which = answers[:, similarity.argmax(axis=0)]  # (E, T), claims in the order of the stream
        for status in told:
            known = asked.known[0] == status
            assert (which[known] == (status == ANSWERS)).all()
            told[status] += int(known.sum())
    assert min(told.values()) > 5


def test_a_query_is_known_of_what_was_read_alone():
    env = gym.make("memenvs/ReadLimited-v0", split="validation").unwrapped
    history, questions = History(env.layout, 6), Questions(env.layout, env.rules)
    observation, _ = env.reset(seed=0)
    read, asked = history.start(1), questions.start(1)
    for _ in range(20):
        before, read = read, history.enter(read, batched(observation))
        asked = questions.enter(asked, before, read, batched(observation))
        observation, *_ = env.step(int(env.action_masks()[1:7].argmax()) + 1)
    assert (np.count_nonzero(asked.known[0], axis=0)[1 : int(asked.size[0])] == 1).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feedback": "outcome"}, "not from feedback='outcome'"),
        ({"utility": "precision"}, "not utility='precision'"),
        ({"disclosure": "all"}, "and disclosure='all'"),
    ],
)
def test_other_settlements_are_refused(changes, message):
    settings = {"utility": "end-to-end", "reader": "similarity:1"} | changes
    env = MemorizationEnv("read-limited", capacity=4, **settings)
    with pytest.raises(ValueError, match=message):
        Questions(env.layout, env.rules)
