"""The Bayes filter against enumeration of everything that is hidden, and its rule in play."""

from itertools import product

import numpy as np
import pytest

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.materials.generator import TIERS
from memenvs.materials.generator.cues import importance_density, style_density
from memenvs.policies import make, policy_class
from memenvs.policies.beliefs.filter import Beliefs, Evidence
from memenvs.policies.beliefs.rates import Rates, look_up
from players import SETTINGS, material, run

CLOSE = 1e-4  # what a settlement rules out is left a chance of a millionth
STORED = 3  # of the claims below, the first; the last one is being considered

SHARED = np.array([0, 0, 1, 1])  # sources of four claims
OWN = np.array([0, 1, 2, 3])


def enumerated(tier, source, style, importance, allowed):
    """P(true) of each claim, by summing over worlds, kinds of sources and truths."""
    parameters, family = TIERS[tier].parameters, TIERS[tier].parameters.family
    worlds = product(family.style_gaps, family.directions, family.overclaims)
    if TIERS[tier].world is not None:
        world = TIERS[tier].world
        worlds = [(world.style_gap, world.direction, world.overclaim)]
    total, true = 0.0, np.zeros(len(source))
    for gap, direction, overclaim in worlds:
        for kinds in product((True, False), repeat=source.max() + 1):
            for truths in product((True, False), repeat=len(source)):
                if not allowed(truths):
                    continue
                chance = 1.0
                for reliable in kinds:
                    chance *= 1 - parameters.unreliable if reliable else parameters.unreliable
                for claim, truth in enumerate(truths):
                    reliable = kinds[source[claim]]
                    honesty = parameters.honest if reliable else parameters.dishonest
                    chance *= honesty if truth else 1 - honesty
                    chance *= style_density(style[claim], reliable, gap, direction)
                    chance *= importance_density(importance[claim], truth, overclaim, parameters)
                total += chance
                true += chance * np.array(truths)
    return true / total


def filtered(tier, source, style, importance, settlements):
    """P(true) of each claim by the filter; a settlement is its debited and credited claims."""
    rates = Rates.of(TIERS[tier])
    beliefs = Beliefs(rates, ("importance", "style"), 4)
    sources = beliefs.start(1)
    shown = Evidence(
        source[None],
        rates.style_evidence(style[None]),
        rates.importance_densities(importance[None]),
    )
    evidence = np.zeros((1, STORED, 2))
    beliefs.hear(sources, shown, np.ones((1, 4), dtype=bool))
    for debited, credited in settlements:
        flags = [np.isin(np.arange(STORED), which)[None] for which in (debited, credited)]
        beliefs.settle(sources, shown, evidence, *flags)
    return beliefs.true(sources, shown, evidence)[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tier", ["readable", "hidden", "worlds"])
@pytest.mark.parametrize(
    ("source", "settlements", "allowed"),
    [
        (SHARED, [], lambda t: True),
        (SHARED, [([0, 2], [])], lambda t: not t[0] and not t[2]),
        (SHARED, [([], [1])], lambda t: t[1]),
        (SHARED, [([0], []), ([], [2])], lambda t: not t[0] and t[2]),
        (OWN, [([2], []), ([], [0])], lambda t: not t[2] and t[0]),
    ],
)
def test_beliefs_are_exact_where_a_settlement_tells_truths(
    tier, source, settlements, allowed, seed
):
    rng = np.random.default_rng(seed)
    style, importance = rng.normal(size=4), rng.uniform(size=4)
    believed = filtered(tier, source, style, importance, settlements)
    exact = enumerated(tier, source, style, importance, allowed)
    np.testing.assert_allclose(believed, exact, atol=CLOSE)


@pytest.mark.parametrize("seed", range(5))
def test_an_answer_by_independent_claims_is_shared_out_exactly(seed):
    rng = np.random.default_rng(seed)
    style, importance = rng.normal(size=4), rng.uniform(size=4)
    believed = filtered("hidden", OWN, style, importance, [([], [0, 1])])
    exact = enumerated("hidden", OWN, style, importance, lambda t: t[0] or t[1])
    np.testing.assert_allclose(believed, exact, atol=CLOSE)


@pytest.mark.parametrize("seed", range(5))
def test_an_answer_by_claims_of_one_source_is_shared_out_roughly(seed):
    """Noisy-or takes the truths to be independent; they share their source."""
    rng = np.random.default_rng(seed)
    style, importance = rng.normal(size=4), rng.uniform(size=4)
    believed = filtered("hidden", SHARED, style, importance, [([], [0, 1])])
    exact = enumerated("hidden", SHARED, style, importance, lambda t: t[0] or t[1])
    np.testing.assert_allclose(believed, exact, atol=0.25)


def test_established_sources_are_believed():
    rates = Rates.of(TIERS["probe"])
    beliefs = Beliefs(rates, ("importance", "style"), 2)
    sources = beliefs.start(1)
    shown = Evidence(
        np.array([[0, 1]]),
        rates.style_evidence(np.array([[-6.0, 0.0]])),
        rates.importance_densities(np.array([[0.5, 0.5]])),
    )
    beliefs.hear(sources, shown, np.ones((1, 2), dtype=bool))
    known, newcomer = beliefs.true(sources, shown, np.zeros((1, 1, 2)))[0]
    assert known > 0.9
    assert newcomer < 0.6


def test_rates_are_of_training_materials():
    rates = Rates.of(TIERS["hidden"])
    assert look_up(rates.overlap, np.array([0.95])) > 0.8  # one content
    assert look_up(rates.overlap, np.array([-0.3])) < 0.05  # other topics
    assert (np.diff(rates.answering[12:]) >= -0.05).all()
    assert rates.topic_mass(TIERS["hidden"].world.centres).argmax() == rates.masses.argmax()


def test_in_play_what_was_settled_is_known():
    """In the state, a debited claim is false and one that was credited alone is true."""
    env = MemorizationEnv("hidden", split="validation", capacity=6, every=1)
    policy = make("bayes", env)
    debits, credits = env.layout.index("debits"), env.layout.index("credits")
    settled = 0
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        over, state = False, None
        while not over:
            action, state = policy.predict(observation, state)
            if state is not None:
                false, true = np.exp(state[1][0]).T
                rows = observation["memory"]
                assert (true[rows[:, debits] > 0] < 1e-5).all()
                assert (true[rows[:, credits] > 0] > 1 - 1e-5).all()
                settled += int((rows[:, debits] > 0).sum() + (false < 1e-5).sum())
            observation, _, over, _, _ = env.step(action)
    assert settled > 50


@pytest.mark.parametrize("name", ["bayes", "bayes-queries"])
@pytest.mark.parametrize("kind", SETTINGS)
def test_materials_of_no_tier_are_played(kind, name):
    env = MemorizationEnv(material(), capacity=3, **SETTINGS[kind])
    history = run(make(name, env), env, episodes=2)
    assert len(history[-1]) >= 2


@pytest.mark.parametrize("name", ["bayes", "bayes-queries"])
def test_it_is_labelled(name):
    assert policy_class(name).knows == "rates"
    assert not policy_class(name).privileged


@pytest.mark.parametrize("name", ["bayes", "bayes-queries"])
@pytest.mark.parametrize(
    "settings",
    [{"every": 2}, SETTINGS["pool"], {"every": 3, "action": "priority"}, {"utility": "coverage"}],
)
def test_batch_equals_single(settings, name):
    single = MemorizationEnv("worlds", split="validation", capacity=4, **settings)
    batch = MemorizationVectorEnv(
        "worlds",
        split="validation",
        capacity=4,
        num_envs=3,
        **settings,
        autoreset_mode="Disabled",
    )
    alone, together = make(name, single), make(name, batch)
    observation, _ = batch.reset(seed=0)
    states, state = [None] * 3, None
    for _ in range(30):
        actions, state = together.predict(observation, state)
        for place in range(3):
            own = {name: array[place] for name, array in observation.items()}
            action, states[place] = alone.predict(own, states[place])
            np.testing.assert_allclose(action, actions[place], rtol=1e-5)
        observation, *_ = batch.step(actions)
