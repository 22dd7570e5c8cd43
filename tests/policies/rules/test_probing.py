"""On ``probe`` it pays to store what is uncertain: the probing rule beats the cautious one."""

import numpy as np
import pytest

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.materials.generator import TIERS
from memenvs.policies.rules.probing import Cautious, Probing

TIER = TIERS["probe"]


def utilities(policy, env, numbers):
    """Utility of the memory that a rule ends with, on each material."""
    results = []
    for number in numbers:
        observation, info = env.reset(seed=number, options={"material": number})
        over = False
        while not over:
            action, _ = policy.predict(observation)
            observation, _, over, _, info = env.step(int(action))
        assert info["illegal_action"] == 0
        results.append(info["utility"])
    return np.array(results)


@pytest.fixture
def env():
    return MemorizationEnv("probe", split="validation", **TIER.preset)


@pytest.mark.slow
def test_probing_beats_caution(env):
    """Both were tuned on the first 200 validation materials; these are the others."""
    numbers = range(200, 512)
    cautious, probing = (
        utilities(rule(env, tier=TIER), env, numbers) for rule in (Cautious, Probing)
    )
    gain = probing - cautious
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    assert gain.mean() > 3 * error
    assert gain.mean() > 0.05 * cautious.mean()


def test_a_probing_rule_stores_one_claim_of_an_unheard_source(env):
    """Newcomers enter the memory early, and more of their sources are heard."""
    heard = {}
    for rule in (Cautious, Probing):
        policy, heard[rule] = rule(env, tier=TIER), 0
        for number in range(20):
            observation, _ = env.reset(seed=number, options={"material": number})
            sources, over = set(), False
            while not over:
                action, _ = policy.predict(observation)
                observation, _, over, _, _ = env.step(int(action))
                stored = np.flatnonzero(env.memory)
                sources |= {env.material.claims[claim].source for claim in stored}
            heard[rule] += len(sources)
    assert heard[Probing] > heard[Cautious] + 10


def test_a_tier_without_one_world_is_refused(env):
    with pytest.raises(ValueError, match="'worlds' has no one world"):
        Cautious(env, tier=TIERS["worlds"])
