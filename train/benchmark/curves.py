"""Sample complexity (section 8.1 of the paper): settled queries against share of the frontier."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.material.incidence import FloatArray
from memenvs.materials.generator.tiers import TIERS
from memenvs.optimal.curve import frontier
from memenvs.policies import is_path
from memenvs.policies.learned.models import Model, find_models
from memenvs.train.batches import EPISODES, episode_seeds, play_batches
from memenvs.train.benchmark.protocol import Curve, Protocol
from memenvs.train.cast import Cast, refusals
from memenvs.train.statistics import mean_interval


def curve_records(
    protocol: Protocol, curve: Curve, policies: Sequence[str]
) -> list[dict[str, Any]]:
    """Give the share of the frontier by how many queries were settled while it was written.

    Episodes are alike but for the number of decisions between settlements: all of a material's
    claims are read at every point, so that nothing but what was settled differs. A record for each
    policy and point, with its interval over materials and seeds.
    """
    tier = TIERS[curve.tier]
    materials = list(tier.split(protocol.split)[: curve.materials])
    seeds = episode_seeds(len(materials), protocol.seed)
    records = []
    for every in curve.every:
        env = _batch(protocol, curve, every)
        best = _optima(curve.tier, protocol.split, curve.materials, env.rules.capacity)
        claims = len(materials[0].claims)
        for name in policies:
            cast = Cast(name, env, protocol.seed, [material.name for material in materials])
            shares = np.array(
                [
                    _play(env, cast.player(materials[0].name, member), materials, seeds) / best
                    for member in range(cast.size)
                ]
            )
            low, high = mean_interval(shares, protocol.seed) or (None, None)
            records.append(
                {
                    "tier": curve.tier,
                    "policy": name,
                    "settled": env.rules.total(claims) - env.rules.closing,
                    "share": float(shares.mean()),
                    "low": low,
                    "high": high,
                    "materials": len(materials),
                    "seeds": cast.size,
                }
            )
    return sorted(records, key=lambda record: (policies.index(record["policy"]), record["settled"]))


def curve_refusals(protocol: Protocol, curve: Curve, policies: Sequence[str]) -> dict[str, str]:
    """Say why policies cannot play a curve: a reason by name."""
    first = TIERS[curve.tier].split(protocol.split)[0].name
    env = _batch(protocol, curve, curve.every[0])
    return refusals(policies, [env], [first], protocol.seed)


def training_records(policies: Sequence[str]) -> list[dict[str, Any]]:
    """Give the validation share of the frontier by the queries settled in training, of each run.

    ``settled`` is empty where the length of an episode varies (windows, curricula).
    """
    records = []
    for name in policies:
        for model in find_models(name) if is_path(name) else ():
            metrics = model.path.with_name("metrics.csv")
            if not metrics.exists():
                continue
            rate = _settled_per_step(model)
            points = [
                {
                    "steps": int(row["steps"]),
                    "settled": None if rate is None else round(int(row["steps"]) * rate),
                    "share": float(row["validation_share"]),
                }
                for row in _rows(metrics)
                if row.get("validation_share")
            ]
            records.append({"policy": name, "seed": model.card.seed, "points": points})
    return records


@cache
def _optima(tier: str, split: str, count: int, capacity: int) -> FloatArray:
    """Best precision at the capacity of each material: ``(M,)``."""
    return np.array(
        [
            frontier(material, "precision", [capacity]).values[0]
            for material in TIERS[tier].split(split)[:count]
        ]
    )


def _batch(protocol: Protocol, curve: Curve, every: int | None) -> MemorizationVectorEnv:
    settings = {**LEVELS["2"], **TIERS[curve.tier].preset, "every": every}
    size = min(EPISODES, curve.materials)
    return MemorizationVectorEnv(curve.tier, split=protocol.split, num_envs=size, **settings)


def _play(
    env: MemorizationVectorEnv, policy: Any, materials: Sequence[Any], seeds: Sequence[int]
) -> FloatArray:
    return play_batches(env, lambda _: policy, materials, seeds)["precision"]


def _settled_per_step(model: Model) -> float | None:
    """Queries settled for each decision of a training, on average."""
    settings, rules = model.card.settings, model.rules
    if settings.get("windows") or settings.get("curriculum"):
        return None
    sources = [settings.get("material")] if settings.get("material") else [settings.get("env")]
    claims = {_claims(str(source)) for listed in sources for source in _listed(listed)}
    if len(claims) != 1 or None in claims:
        return None
    decisions = rules.decisions or (claims.pop() or 0) * (2 if rules.access == "pool" else 1)
    return rules.total(decisions) / decisions


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _claims(source: str) -> int | None:
    """Claims of the materials of a name or id; None where that is unknown."""
    import gymnasium as gym

    from memenvs.envs.memorization.env import MemorizationEnv

    try:
        env = gym.make(source) if source.startswith("memenvs/") else MemorizationEnv(source)
    except (ValueError, gym.error.Error):
        return None
    inner: Any = env.unwrapped
    sizes = {len(material.claims) for material in list(inner.materials.fixed[:64])}
    return sizes.pop() if len(sizes) == 1 else None


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
