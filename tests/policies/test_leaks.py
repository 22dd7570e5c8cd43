"""A trained policy knows of truth and p_D what settlements told it, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import make
from memenvs.policies.learned.networks.fitting import fit_estimator
from memenvs.policies.learned.networks.reading_fitting import fit_reader
from saved_models import save_estimator, train

EPISODES, SETTLED = 12, 16  # of 32 decisions; the first settlement comes after decision 16
RULES = {"capacity": 6, "every": SETTLED, "queries": 8}
READ = {"utility": "end-to-end", "reader": "similarity:1"}  # by what reads a part of the memory


def other_truth(material, rng):
    """Turn every claim's truth over, and mix them."""
    truths = rng.permutation([1.0 - claim.truth for claim in material.claims])
    claims = (replace(c, truth=float(t)) for c, t in zip(material.claims, truths, strict=True))
    return replace(material, claims=tuple(claims))


def other_masses(material, rng):
    """Give the queries each other's masses."""
    weights = rng.permutation([query.weight for query in material.queries])
    queries = (replace(q, weight=float(w)) for q, w in zip(material.queries, weights, strict=True))
    return replace(material, queries=tuple(queries))


def other_answers(material, rng):
    """Let other claims answer each query, and ask of something else."""
    claims, queries = ([r.id for r in records] for records in (material.claims, material.queries))
    stated = dict(zip(claims, rng.permutation(claims).tolist(), strict=True))
    asked = dict(zip(queries, rng.permutation(queries).tolist(), strict=True))
    items = (
        replace(
            item,
            supports=tuple(tuple(stated[c] for c in support) for support in item.supports),
            answers=tuple(asked[q] for q in item.answers),
        )
        for item in material.items
    )
    return replace(material, items=tuple(items))


SECRETS = {"truth": other_truth, "p_D": other_masses, "answers": other_answers}


def decisions(name, materials, rules):
    """Actions ``(32, B)`` of a policy that is built where these materials are played."""
    env = MemorizationVectorEnv(
        materials, num_envs=len(materials), autoreset_mode="Disabled", **rules
    )
    policy, state, taken = make(name, env), None, []
    observation, _ = env.reset(seed=0, options={"material": materials})
    for _ in range(len(materials[0].claims)):
        actions, state = policy.predict(observation, state)
        observation, *_ = env.step(actions)
        taken.append(actions)
    return np.array(taken)


def both(name, tier, secrets, rules=RULES):
    """Decisions of a policy on materials of a tier, and on those with other secrets."""
    materials = list(TIERS[tier].split("validation")[:EPISODES])
    rng, others = np.random.default_rng(0), materials
    for secret in secrets:
        others = [SECRETS[secret](material, rng) for material in others]
    return decisions(name, materials, rules), decisions(name, others, rules)


def fitted(folder, tier):
    """A small estimator, saved."""
    torch.set_num_threads(1)
    settings = RULES | {"num_envs": 32, "autoreset_mode": "SameStep"}
    batch = MemorizationVectorEnv(tier, split="train", **settings)
    estimator = fit_estimator(batch, steps=2048, rounds=2, passes=4.0, hidden=16)
    return str(save_estimator(folder / "best_model.zip", estimator, batch))


def rewarded(folder, tier):
    """A small network with an estimator in it, trained by PPO on settled rewards, saved."""
    path = folder / "best_model.zip"
    train(path, tier, network="estimator-pointer", steps=512, **RULES)
    return str(path)


def reading(folder, tier):
    """A small estimator for a reader of one item, saved."""
    torch.set_num_threads(1)
    settings = RULES | READ | {"num_envs": 32, "autoreset_mode": "SameStep"}
    batch = MemorizationVectorEnv(tier, split="train", **settings)
    estimator = fit_reader(batch, steps=2048, rounds=2, passes=4.0, hidden=16)
    path = folder / "best_model.zip"
    return str(save_estimator(path, estimator, batch, kind="reader-estimator"))


MODELS = {"estimator": fitted, "estimator-pointer": rewarded, "reader-estimator": reading}


@pytest.mark.parametrize("tier", ["hidden", "worlds"])
@pytest.mark.parametrize("model", MODELS)
def test_a_trained_policy_decides_by_nothing_secret(model, tier, tmp_path):
    rules = RULES | (READ if model == "reader-estimator" else {})
    mine, other = both(MODELS[model](tmp_path, tier), tier, SECRETS, rules)
    assert len(set(map(tuple, mine[:SETTLED].T.tolist()))) > 1  # it tells the materials apart
    assert (mine[:SETTLED] == other[:SETTLED]).all()
    assert (mine[SETTLED:] != other[SETTLED:]).any()  # settlements told it of the difference


@pytest.mark.parametrize("tier", ["hidden", "worlds"])
@pytest.mark.parametrize("secret", SECRETS)
def test_whoever_reads_a_secret_is_found_out(secret, tier):
    mine, other = both("clairvoyant", tier, [secret])
    assert (mine[:SETTLED] != other[:SETTLED]).any()
