"""What the rates of a tier say of a claim: what its cues mean, what it answers, what repeats it.

Rates are the parameters of the generator and what follows from them by drawing training materials;
nothing here is of the material that is played.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from memenvs.material.incidence import FloatArray
from memenvs.materials.generator.cues import ESTABLISHED_STYLE, importance_density
from memenvs.materials.generator.parameters import Parameters
from memenvs.materials.generator.tiers import TIERS, Tier

BINS = 24  # of similarities in [-1, 1]
PAIRS = 60_000  # of claims that are counted
LEAST = 1e-9  # density: cues of other materials than the tier's may lie anywhere


@dataclass(frozen=True, eq=False)
class Rates:
    """The rates of one tier, over W worlds and K kinds of sources."""

    parameters: Parameters
    overclaims: tuple[float, ...]  # W
    style: FloatArray  # (W, K) mean style of a source
    prior: FloatArray  # (K,) log probability of a kind
    honesty: FloatArray  # (K,) P(true) of a claim
    centres: FloatArray | None  # (T, d) of topics; None where each material has its own
    masses: FloatArray  # (T,)
    overlap: FloatArray  # (BINS,) share of a claim's queries that another answers, by similarity
    answering: FloatArray  # (BINS,) P(a claim answers a query), by similarity

    @classmethod
    def of(cls, tier: Tier) -> Rates:
        """Collect the rates of a tier: of its one world, or of all that it may draw."""
        parameters, family, world = tier.parameters, tier.parameters.family, tier.world
        worlds = list(product(family.style_gaps, family.directions, family.overclaims))
        if world is not None:
            worlds = [(world.style_gap, world.direction, world.overclaim)]
        share = 1 / parameters.size.sources if parameters.established else 0.0
        kinds = [
            ((1 - share) * (1 - parameters.unreliable), parameters.honest),
            ((1 - share) * parameters.unreliable, parameters.dishonest),
            (share, parameters.honest),
        ]
        side = np.array([gap * direction / 2 for gap, direction, _ in worlds])
        style = np.stack([-side, side, np.full(len(worlds), ESTABLISHED_STYLE)], axis=1)
        known = [place for place, (prior, _) in enumerate(kinds) if prior > 0]
        overlap, answering = _by_similarity(tier.name)
        return cls(
            parameters=parameters,
            overclaims=tuple(overclaim for _, _, overclaim in worlds),
            style=style[:, known],
            prior=np.log([kinds[place][0] for place in known]),
            honesty=np.array([kinds[place][1] for place in known]),
            centres=None if world is None else world.centres,
            masses=np.ones(1) / parameters.size.topics if world is None else world.masses,
            overlap=overlap,
            answering=answering,
        )

    def style_evidence(self, style: FloatArray) -> FloatArray:
        """Log density of styles ``(...)`` by world and kind, up to a constant: ``(..., W, K)``."""
        return np.asarray(-0.5 * (style[..., None, None] - self.style) ** 2)

    def importance_densities(self, importance: FloatArray) -> FloatArray:
        """Density of importances ``(...)`` by world and truth, false first: ``(..., W, 2)``."""
        distinct = sorted(set(self.overclaims))
        place = [distinct.index(overclaim) for overclaim in self.overclaims]
        false = [importance_density(importance, False, o, self.parameters) for o in distinct]
        true = importance_density(importance, True, 0.0, self.parameters)
        densities = np.empty((*importance.shape, len(place), 2))
        densities[..., 0] = np.stack(false, axis=-1)[..., place]
        densities[..., 1] = true[..., None]
        return densities + LEAST

    def expected_answers(self, importance: FloatArray) -> FloatArray:
        """Queries that true claims of such importance ``(...)`` answer, over the mean number."""
        least, most = self.parameters.answers
        levels = np.arange(least, most + 1)
        apart = (importance[..., None] - levels / most) / self.parameters.importance_noise
        chance = np.exp(-0.5 * apart**2) + LEAST
        return np.asarray((chance @ levels) / chance.sum(axis=-1) / levels.mean())

    def topic_mass(self, vectors: FloatArray) -> FloatArray:
        """P(a claim answers the next query), before any was asked: ``(..., d)`` to ``(...)``."""
        per_query = np.mean(self.parameters.answers) / self.parameters.size.queries
        if self.centres is None or self.centres.shape[1] != vectors.shape[-1]:
            return np.full(vectors.shape[:-1], per_query / self.parameters.size.topics)
        return np.asarray(self.masses[(vectors @ self.centres.T).argmax(axis=-1)] * per_query)


def look_up(table: FloatArray, similarity: FloatArray) -> FloatArray:
    """Interpolate a table over similarities in [-1, 1]: ``(...)``."""
    at = np.clip((similarity + 1) / 2 * len(table) - 0.5, 0, len(table) - 1)
    place = np.minimum(at.astype(np.int64), len(table) - 2)
    part = at - place
    return np.asarray(table[place] * (1 - part) + table[place + 1] * part)


@lru_cache(maxsize=32)
def _by_similarity(name: str) -> tuple[FloatArray, FloatArray]:
    """Count what claims of training materials share and answer, by similarity: ``(BINS,)`` each."""
    tier = TIERS[name]
    overlap, answering = np.zeros((2, BINS)), np.zeros((2, BINS))
    pairs = number = 0
    while pairs < PAIRS:
        draft = tier.draft("train", number)
        answers = draft.contents.answers[draft.content].astype(np.float64)
        vectors = draft.embedding / np.linalg.norm(draft.embedding, axis=1, keepdims=True)
        asked = draft.contents.query_vector
        asked = asked / np.linalg.norm(asked, axis=1, keepdims=True)
        shared = answers @ answers.T / answers.sum(axis=1, keepdims=True)
        others = ~np.eye(len(vectors), dtype=bool)
        _count(overlap, (vectors @ vectors.T)[others], shared[others])
        _count(answering, (vectors @ asked.T).ravel(), answers.ravel())
        pairs += int(others.sum())
        number += 1
    return overlap[1] / np.maximum(overlap[0], 1), answering[1] / np.maximum(answering[0], 1)


def _count(totals: FloatArray, similarity: FloatArray, values: FloatArray) -> None:
    """Add to the counts and the sums ``(2, BINS)`` of values by similarity."""
    place: Any = np.clip(((similarity + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1)
    totals[0] += np.bincount(place, minlength=BINS)
    totals[1] += np.bincount(place, weights=values, minlength=BINS)
