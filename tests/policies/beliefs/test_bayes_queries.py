"""What `bayes-queries` knows of settled queries against the materials, and its price in play."""

import numpy as np
import pytest

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make

ANSWERED, ASKED, COUNT = 3, 5, 6  # places in the state


def nearest(vectors, others):
    """Number of the one of ``others`` that each of ``vectors`` is."""
    others = others / np.linalg.norm(others, axis=1, keepdims=True)
    return (vectors @ others.T).argmax(axis=1)


def answered_by_claims(material):
    """Which claims answer which queries, alone: ``(E, Q)``, from the records."""
    claims = {claim.id: place for place, claim in enumerate(material.claims)}
    queries = {query.id: place for place, query in enumerate(material.queries)}
    found = np.zeros((len(claims), len(queries)))
    for item in material.items:
        for support in item.supports:
            found[claims[support[0]], [queries[query] for query in item.answers]] = 1
    return found


def test_what_is_settled_while_a_claim_is_stored_is_known_exactly():
    env = MemorizationEnv("hidden", split="validation", capacity=6, every=1)
    policy = make("bayes-queries", env)
    columns, valid = env.layout.slice("embedding"), env.layout.index("valid")
    answering = silent = 0
    for seed in range(6):
        observation, _ = env.reset(seed=seed)
        answers = answered_by_claims(env.material)
        claims = np.array([claim.embedding for claim in env.material.claims])
        queries = np.array([query.embedding for query in env.material.queries])
        over, state, before = False, None, 0
        while not over:
            action, state = policy.predict(observation, state)
            rows = observation["memory"]
            stored = rows[:, valid] == 1
            which = nearest(rows[stored][:, columns], claims)
            for place in range(before, int(state[COUNT][0])):
                query = nearest(state[ASKED][0, [place]], queries)[0]
                believed = state[ANSWERED][0, :-1][stored, place]
                np.testing.assert_allclose(believed, answers[which, query], atol=1e-6)
                answering += int(believed.sum())
                silent += int((1 - believed).sum())
            before = int(state[COUNT][0])
            observation, _, over, _, _ = env.step(action)
    assert answering > 50
    assert silent > 50


@pytest.mark.parametrize(
    "settings", [{"utility": "end-to-end"}, {"feedback": "outcome"}, {"reader": "similarity:1"}]
)
def test_silence_is_no_evidence_where_records_do_not_tell_who_answers(settings):
    env = MemorizationEnv("hidden", split="validation", capacity=6, every=1, **settings)
    counting, plain = make("bayes-queries", env), make("bayes", env)
    observation, _ = env.reset(seed=0)
    over, known, similar = False, None, None
    while not over:
        action, known = counting.predict(observation, known)
        _, similar = plain.predict(observation, similar)
        np.testing.assert_array_equal(known[ANSWERED], similar[ANSWERED])
        observation, _, over, _, _ = env.step(action)


def reached(name, episodes=256):
    """Precision of the final memories over validation materials of ``probe``."""
    env = MemorizationVectorEnv(
        "probe",
        split="validation",
        capacity=6,
        every=1,
        num_envs=episodes,
        autoreset_mode="Disabled",
    )
    policy = make(name, env)
    observation, _ = env.reset(seed=1)
    over, state = np.zeros(episodes, dtype=bool), None
    while not over.all():
        actions, state = policy.predict(observation, state)
        observation, _, over, _, info = env.step(actions)
    return info["precision"]


def test_a_price_on_information_pays_in_probe():
    gain = reached("bayes-queries") - reached("bayes")
    assert gain.mean() > 2 * gain.std() / np.sqrt(len(gain))
