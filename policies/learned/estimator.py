"""Policies by a settlement estimator that is loaded from a file, or fitted when it is needed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.errors import MaterialError
from memenvs.policies.base import Observation
from memenvs.policies.learned.estimator_greedy import EstimatorGreedy
from memenvs.policies.learned.models import Model, check_fit, find_models
from memenvs.policies.learned.networks.estimator import (
    Judged,
    SettlementEstimator,
    TruthEstimator,
)
from memenvs.policies.learned.saved import LONGEST
from memenvs.policies.training_materials import tier_of
from memenvs.storage.archives import read_archive

if TYPE_CHECKING:
    from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv

Network = TypeVar("Network", bound=TruthEstimator)

WEIGHTS = "estimator.pth"  # of a saved model's zip file
POLICY = "policy.pth"  # of SB3's, in which an estimator may be a part of the policy
PART = "features_extractor.estimator."
PLAYED = 64  # episodes at once while it fits itself
SAME = 0.85  # similarity from which on the ranker holds two claims for one
LEAST_WORTH = 1e-9


class Estimator(EstimatorGreedy):
    """Make the replacement that most raises the estimated value of the memory, or pass.

    What is estimated was learned from settlements alone, on other materials: ``estimator:PATH`` is
    a saved model, that part of an estimator-pointer, or several seeds, which are averaged;
    ``estimator`` is fitted on the train split of the tier that is played (about a minute). Raises
    ``ValueError`` where there is no such split, or a model does not fit.
    """

    variants = "PATH"

    def __init__(
        self,
        env: Any,
        seed: int = 0,
        *,
        variant: str | None = None,
        models: Sequence[Model] = (),
        estimator: SettlementEstimator | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(env, seed)
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if variant is not None:
            models = find_models(variant)
        if models:
            check_fit(models, self.layout, self.rules)
            self.use([self._read(model).to(device) for model in models])
        else:
            self.use([estimator or self._fit(env, device)])

    def _read(self, model: Model) -> SettlementEstimator:
        """Read a saved estimator; raises ``ValueError`` where the file holds none."""
        entry = WEIGHTS if model.card.kind == "estimator" else POLICY
        weights = read_weights(model, entry)
        if entry == POLICY:
            weights = {n.removeprefix(PART): w for n, w in weights.items() if n.startswith(PART)}
            if not weights:
                raise ValueError(
                    f"{model.path}: its network is {model.card.network}, which has no estimator; "
                    "train one with network estimator-pointer, or algorithm estimator"
                )
        return filled(SettlementEstimator, self.layout, weights, model, entry)

    def _fit(self, env: Any, device: str) -> SettlementEstimator:
        """Fit on the train split of the tier that is played, under the environment's rules."""
        tier = training_tier(env, "estimator")
        return _fitted(tier, replace(self.rules, strict=False), self.seed, device)


def read_weights(model: Model, entry: str) -> dict[str, Any]:
    """Read an entry of a saved model; raises ``ValueError`` where it is damaged."""
    try:
        archive = read_archive(model.path, LONGEST, "estimator")
        weights: dict[str, Any] = torch.load(io.BytesIO(archive.read(entry)), weights_only=True)
    except MaterialError:
        raise
    except Exception:  # what is no pickle fails in any way
        raise ValueError(f"{model.path}: its '{entry}' is damaged") from None
    return weights


def filled(
    kind: type[Network], layout: Layout, weights: dict[str, Any], model: Model, entry: str
) -> Network:
    """Build a network and fill it; raises ``ValueError`` where the weights are of another one."""
    try:
        network = kind(layout, hidden=len(weights["true.0.weight"]))
        network.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError):
        raise ValueError(
            f"{model.path}: its '{entry}' holds another network; train it again"
        ) from None
    return network


def training_tier(env: Any, name: str) -> str:
    """Name the tier whose train split a policy can fit itself on; raises ``ValueError``."""
    tier = tier_of(env)
    if tier is None:
        raise ValueError(
            f"the policy '{name}' has no materials to learn from but those of a tier; name a saved "
            f"one: {name}:PATH"
        )
    return tier.name


def training_batch(tier: str, rules: Rules) -> MemorizationVectorEnv:
    """Make a batch of a tier's training materials, under an environment's rules."""
    from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv

    settings = asdict(rules) | {"material": tier, "split": "train"}
    return MemorizationVectorEnv(**settings, num_envs=PLAYED, autoreset_mode="SameStep")


@lru_cache(maxsize=16)
def _fitted(tier: str, rules: Rules, seed: int, device: str) -> SettlementEstimator:
    """Fit on the train split of a tier, once for all policies of a process that need it."""
    from memenvs.policies.learned.networks.fitting import fit_estimator

    return fit_estimator(training_batch(tier, rules), seed=seed, device=device)


class EstimatorRanker(Estimator):
    """Keep the claims of highest p·v; of two that say the same, only the better one counts.

    p and v are those of ``estimator``, which may be saved: ``estimator-ranker:PATH``.
    """

    def gains(self, judged: Judged, observation: Observation) -> NDArray[Any]:
        """By how much the arriving claim is worth more than each stored one: ``(B, S)``."""
        where = self.layout.slice("embedding")
        vectors = np.concatenate(
            [observation["memory"][..., where], observation["claim"][:, None, where]], axis=1
        )
        worth = judged.worth().numpy()
        above = worth[:, None, :] > worth[:, :, None]
        same = vectors @ vectors.swapaxes(1, 2) >= SAME
        worth = np.where((above & same).any(axis=2), LEAST_WORTH * worth, worth)
        return np.asarray(worth[:, -1:] - worth[:, :-1])
