"""Sample complexity (section 8.1 of the paper): settled queries against share of the frontier."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import is_path
from memenvs.policies.learned.models import Model, find_models
from memenvs.train.benchmark.protocol import Curve, Protocol
from memenvs.train.named_policy import refusals
from memenvs.train.optima import Optima
from memenvs.train.places import Place, place_of_materials
from memenvs.train.playing import Playing
from memenvs.train.statistics import mean_interval
from memenvs.train.units import units


def curve_records(
    protocol: Protocol, curve: Curve, policies: Sequence[str]
) -> list[dict[str, Any]]:
    """Give the share of the frontier by how many queries were settled while it was written.

    Episodes are alike but for the number of decisions between settlements: all of a material's
    claims are read at every point, so that nothing but what was settled differs. A record for each
    policy and point, with its interval over materials and seeds.
    """
    optima, records = Optima(protocol.time_limit), []
    for every in curve.every:
        place = _place(protocol, curve, every)
        rules, played = place.rules, units(place.instances, 1, protocol.seed)
        assert rules is not None
        playing = Playing(place, episodes=len(played), seed=protocol.seed, optima=optima)
        best = [
            optima.reference(each.value, rules, rules.capacity).at_capacity.value
            for each in place.instances
        ]
        claims = len(place.instances[0].value.claims)
        for name in policies:
            named, shares = playing.named(name), []
            for member in range(named.size):
                ended = playing.all(name, played, member)
                pairs = zip(ended, best, strict=True)
                shares.append([each.values["utility"] / optimum for each, optimum in pairs])
            low, high = mean_interval(np.array(shares), protocol.seed) or (None, None)
            records.append(
                {
                    "tier": curve.tier,
                    "policy": name,
                    "settled": rules.total(claims) - rules.closing,
                    "share": float(np.mean(shares)),
                    "low": low,
                    "high": high,
                    "materials": len(played),
                    "seeds": named.size,
                }
            )
    return sorted(records, key=lambda record: (policies.index(record["policy"]), record["settled"]))


def curve_refusals(protocol: Protocol, curve: Curve, policies: Sequence[str]) -> dict[str, str]:
    """Say why policies cannot play a curve: a reason by name."""
    first = TIERS[curve.tier].split(protocol.split)[0].name
    env = _place(protocol, curve, curve.every[0]).batch(1)
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


def _place(protocol: Protocol, curve: Curve, every: int | None) -> Place:
    arguments, count = {"every": every}, curve.materials
    return place_of_materials([curve.tier], arguments, split=protocol.split, count=count)


def _settled_per_step(model: Model) -> float | None:
    """Queries settled for each decision of a training, on average."""
    settings, rules = model.card.settings, model.rules
    if settings.get("windows") or settings.get("curriculum"):
        return None
    sources = [settings.get("material")] if settings.get("material") else [settings.get("env")]
    claims = {_claims(str(source)) for listed in sources for source in _listed(listed)}
    if len(claims) != 1 or None in claims:
        return None
    decisions = rules.length(claims.pop() or 0)
    return rules.total(decisions) / decisions


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _claims(source: str) -> int | None:
    """Claims of the materials of a name or id; None where that is unknown."""
    import gymnasium as gym

    from memenvs.envs.memorization.memorization_env import MemorizationEnv

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
