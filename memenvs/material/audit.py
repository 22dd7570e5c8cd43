"""A leak audit: can what claims show beforehand tell the true ones better than it should?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memenvs.envs.memorization.features import Features
from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.material.material import Material
from memenvs.materials.generator.cues import truth_filter
from memenvs.materials.generator.tiers import Tier
from memenvs.text.encoders import embeddings

LEAST = 1e-6  # probability: the score of a sure mistake stays finite


@dataclass(frozen=True)
class Finding:
    """How well a classifier tells true claims, against what the cues allow by design.

    ``score`` is the mean log-likelihood of the truth, in nats. An excess is the classifier's rate
    minus the design's, its error one standard error over materials.
    """

    classifier: str
    accuracy: float
    design_accuracy: float
    accuracy_excess: float
    accuracy_error: float
    score: float
    design_score: float
    score_excess: float
    score_error: float

    @property
    def leaks(self) -> bool:
        """Whether a rate exceeds the design's by more than four standard errors."""
        return (
            self.accuracy_excess > 4 * self.accuracy_error
            or self.score_excess > 4 * self.score_error
        )


def audit(
    training: Iterable[Material],
    held_out: Sequence[Material],
    allowed: Callable[[Material], FloatArray],
) -> list[Finding]:
    """Fit classifiers of truth on claims as an agent first sees them; needs scikit-learn.

    They see every column of a claim's observation before any settlement, with what its source said
    before and the similarities to earlier claims. ``allowed`` gives P(true) of each claim ``(E,)``
    as far as the cues are meant to tell. Truths must be 0 or 1.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifiers = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
        "gradient boosting": HistGradientBoostingClassifier(
            max_iter=80, max_leaf_nodes=8, learning_rate=0.1, random_state=0
        ),
    }
    rows, truth = _table(training)
    tested = [_table([material]) for material in held_out]
    design = [_rates(allowed(m), true) for m, (_, true) in zip(held_out, tested, strict=True)]
    findings = []
    for name, classifier in classifiers.items():
        classifier.fit(rows, truth)
        reached = [_rates(classifier.predict_proba(row)[:, 1], true) for row, true in tested]
        findings.append(_finding(name, np.array(reached), np.array(design)))
    return findings


def audit_tier(tier: Tier, training: int = 300, held_out: int = 250) -> list[Finding]:
    """Audit a tier: classifiers fitted on its training materials, tried on its validation ones.

    The design is a Bayes filter over what the claim's own source has shown, as in the columns.
    """

    def allowed(material: Material) -> FloatArray:
        cues = [dict(claim.cues) for claim in material.claims]
        importance, style = (np.array([c[name] for c in cues]) for name in ("importance", "style"))
        source = np.unique([claim.source for claim in material.claims], return_inverse=True)[1]
        probability = np.empty(len(source))
        for number in np.unique(source):
            own = source == number
            probability[own] = truth_filter(
                source[own], importance[own], style[own], tier.parameters
            )
        return probability

    return audit(tier.split("train")[:training], list(tier.split("validation")[:held_out]), allowed)


def _table(materials: Iterable[Material]) -> tuple[FloatArray, BoolArray]:
    """Rows of all claims as they are first seen, and their truth."""
    rows, truths = [], []
    for material in materials:
        claims, _, queries = embeddings(material)
        layout = Layout(Limits.of([material], claims.shape[1]), False, False, 1)
        rows.append(Features.of(material, layout, claims, queries).claims)
        truths.append(material.incidence.truth == 1.0)
    return np.concatenate(rows).astype(np.float64), np.concatenate(truths)


def _rates(probability: FloatArray, truth: BoolArray) -> tuple[float, float]:
    """Accuracy and log-likelihood of beliefs about one material's claims."""
    likelihood = np.where(truth, probability, 1 - probability)
    right = (probability > 0.5) == truth
    return float(right.mean()), float(np.log(np.maximum(likelihood, LEAST)).mean())


def _finding(name: str, reached: FloatArray, design: FloatArray) -> Finding:
    excess = reached - design
    error = excess.std(axis=0, ddof=1) / np.sqrt(len(excess))
    (accuracy, score), (design_accuracy, design_score) = reached.mean(axis=0), design.mean(axis=0)
    return Finding(
        classifier=name,
        accuracy=float(accuracy),
        design_accuracy=float(design_accuracy),
        accuracy_excess=float(excess[:, 0].mean()),
        accuracy_error=float(error[0]),
        score=float(score),
        design_score=float(design_score),
        score_excess=float(excess[:, 1].mean()),
        score_error=float(error[1]),
    )
