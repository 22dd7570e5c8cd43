"""The comparator without reinforcement learning: logistic regression on what can be observed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.rules import Rules
from memenvs.errors import MaterialError
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.material.material import Material
from memenvs.policies.base import Observation, State, attribute, privileged
from memenvs.policies.rules.rule import Rule
from memenvs.policies.rules.simple import Reservoir
from memenvs.policies.training_materials import training_materials
from memenvs.storage.whole import write_whole

MATERIALS = 128  # of a tier's train split
REGULARISATION = 0.1  # scikit-learn's C, of standardised columns
FORMAT = "memenvs.supervised/1"
MODEL = ".model.json"  # how the name of a saved model ends
# Numbers that say nothing of a claim's worth, or another thing of a stored claim than of a new one.
LEFT_OUT = ("cost", "source", "age", "redundancy", "valid", "stored", "considered")
COUNTS = ("credits", "debits", "source_credits", "source_debits")


@dataclass(frozen=True)
class Model:
    """Log-odds that a claim is true and answers something, linear in its columns."""

    columns: tuple[str, ...]  # names, with a number where a column is several wide
    weights: tuple[float, ...]
    bias: float

    def save(self, path: str | Path) -> None:
        """Write it as JSON, under a name that ends in ".model.json"."""
        write_whole(Path(path), json.dumps({"format": FORMAT, **asdict(self)}).encode())

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read what ``save`` wrote; raises ``ValueError`` for anything else."""
        try:
            found = json.loads(Path(path).read_text("utf-8"))
            if found.pop("format") != FORMAT:
                raise ValueError
            columns, weights = tuple(found["columns"]), tuple(map(float, found["weights"]))
            return cls(columns, weights, float(found["bias"]))
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ValueError(f"{path} is no model of the policy 'supervised'") from None


class Supervised(Rule):
    """Keep the claims that a logistic regression takes for true and useful.

    It is fitted on other materials, then frozen: on the train split of the tier that is played
    (its first 128 materials), else on the other materials of the environment (leave one out), or,
    as ``supervised:NAME_OR_FILE``, on those; ``supervised:FILE.model.json`` is a saved model. The
    rows are those of a reservoir's episodes under the environment's own rules; a claim is a good
    one if it is true and some support of an answer holds it, weighted by the mass it answers.
    Features are the columns of a claim, settled records as log(1 + n); nothing is deduplicated.
    Of the material that is played it reads the name alone, to leave it out. Raises ``ValueError``
    where there is nothing to train on, or its columns are others.
    """

    variants = "NAME_OR_FILE"

    def __init__(self, env: Any, seed: int = 0, *, variant: str | None = None) -> None:
        super().__init__(env, seed)
        self._env = env
        self._fixed: Model | None = None
        self._samples: dict[str, Sample] = {}
        self._fitted: dict[str, Model] = {}  # by the material that was left out; "": none was
        self._names: dict[int, str] = {}  # of the materials that were played
        self._weights = self._bias = np.zeros(0)
        if variant is not None and variant.endswith(MODEL):
            self._fixed = Model.load(variant)
            if self._fixed.columns != feature_names(self.layout):
                raise ValueError(f"{variant} was fitted on other columns than these materials have")
        else:
            for material in self._training(variant):
                self._samples[material.name] = Sample.play(material, self.rules, self.layout, seed)

    def model(self, without: str = "") -> Model:
        """Give the model fitted on every training material but that of the name."""
        if self._fixed is not None:
            return self._fixed
        without = without if without in self._samples else ""
        if without not in self._fitted:
            rest = [sample for name, sample in self._samples.items() if name != without]
            self._fitted[without] = fit(rest, feature_names(self.layout))
        return self._fitted[without]

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Score by the model that did not see the material."""
        models = [self.model(self._name(view)) for view in privileged(self._env)]
        self._weights = np.array([model.weights for model in models])  # (B, features)
        self._bias = np.array([model.bias for model in models])
        return super().act(observation, masks, state)

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Log-odds of each claim: ``(B, n)``."""
        found = np.einsum("bnf,bf->bn", features(rows, self.layout), self._weights)
        return np.asarray(found + self._bias[:, None])

    def _name(self, view: Any) -> str:
        if view.number not in self._names:
            self._names[view.number] = view.load().name
        return self._names[view.number]

    def _training(self, variant: str | None) -> Sequence[Material]:
        named = training_materials(self._env, variant, MATERIALS)
        if named is not None:
            return named
        fixed = attribute(self._env, "materials").fixed
        if len(fixed) < 2:
            raise ValueError(
                "the policy 'supervised' has nothing to train on beside the one material; name "
                "others: supervised:NAME_OR_FILE"
            )
        return list(fixed)


@dataclass(frozen=True)
class Sample:
    """Rows of one training material, and which of them are good."""

    rows: FloatArray  # (n, features)
    good: BoolArray  # (n,)
    mass: FloatArray  # (n,) of the queries that the row's claim helps to answer

    @classmethod
    def play(cls, material: Material, rules: Rules, layout: Layout, seed: int) -> Sample:
        """Let a reservoir play an episode; takes each considered claim, and the final memory."""
        settings = asdict(replace(rules, strict=False))
        env = MemorizationEnv(material, **settings)
        if feature_names(env.layout) != feature_names(layout):
            raise MaterialError(
                "cannot train 'supervised': its claims have other columns than those played",
                file=material.name,
            )
        policy = Reservoir(env, seed)
        rows: list[NDArray[Any]] = []
        claims: list[int] = []
        observation, _ = env.reset(seed=seed)
        state, over = None, False
        while not over:
            (view,) = env.privileged_views()
            if view.considered is not None:
                rows.append(observation["claim"])
                claims.append(view.considered)
            action, state = policy.predict(observation, state)
            observation, _, over, _, _ = env.step(action)
        (view,) = env.privileged_views()
        width = env.layout.claim.width
        stored = np.flatnonzero(view.slots >= 0)
        rows += list(observation["memory"][stored, :width])
        claims += view.slots[stored].tolist()
        mass = useful_mass(material)[claims]
        true = material.incidence.truth[claims] > 0.5
        return cls(features(np.array(rows), env.layout), true & (mass > 0), mass)


def useful_mass(material: Material) -> FloatArray:
    """Mass of the queries that have an answer with the claim in a support: ``(E,)``."""
    incidence = material.incidence
    asked: list[set[int]] = [set() for _ in material.claims]
    for n in range(len(material.items)):
        for support in incidence.item_supports[n].tolist():
            for claim in incidence.supports[support].tolist():
                asked[claim].update(incidence.answers[n].tolist())
    return np.array([incidence.probability[list(queries)].sum() for queries in asked])


def fit(samples: Sequence[Sample], names: tuple[str, ...]) -> Model:
    """Fit the regression; where all rows are good, or none, every claim is worth the same."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rows = np.concatenate([sample.rows for sample in samples])
    good = np.concatenate([sample.good for sample in samples])
    mass = np.concatenate([sample.mass for sample in samples])
    if good.all() or not good.any():
        return Model(names, (0.0,) * rows.shape[1], 0.0)
    weight = np.where(good, mass / mass[good].mean(), 1.0)
    scaler = StandardScaler().fit(rows)
    found = LogisticRegression(C=REGULARISATION, max_iter=1000)
    found.fit(scaler.transform(rows), good, sample_weight=weight)
    weights = found.coef_[0] / scaler.scale_
    bias = float(found.intercept_[0] - weights @ scaler.mean_)
    return Model(names, tuple(weights.tolist()), bias)


def feature_names(layout: Layout) -> tuple[str, ...]:
    """Name the features, in order."""
    return tuple(
        name if place.stop - place.start == 1 else f"{name}[{i}]"
        for name, place in layout.claim.slices.items()
        if name not in LEFT_OUT
        for i in range(place.stop - place.start)
    )


def features(rows: NDArray[Any], layout: Layout) -> FloatArray:
    """Turn rows of claims ``(..., width)`` into features ``(..., f)``."""
    slices = {name: s for name, s in layout.claim.slices.items() if name not in LEFT_OUT}
    kept: IntArray = np.concatenate([np.arange(s.start, s.stop) for s in slices.values()])
    found = rows[..., kept].astype(np.float64)
    counts = np.isin(kept, [slices[name].start for name in COUNTS])
    found[..., counts] = np.log1p(found[..., counts])
    return np.asarray(found)
