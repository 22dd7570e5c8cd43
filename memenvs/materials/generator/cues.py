"""What claims show beside their content, and how likely each cue is: for drawing and for beliefs.

A belief that knows the rates of a tier (a Bayes filter, the leak audit) reads them here.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.generator.parameters import Family, Parameters, World

ESTABLISHED_STYLE = -6.0  # of a source that is known to be reliable; honest ones lie around 0
COSTS = (5, 40)  # tokens of a claim, least and most


def styles(reliable: BoolArray, established: BoolArray, world: World) -> FloatArray:
    """Mean style of sources ``(...)``; a claim's style lies around it with deviation 1."""
    side = np.where(reliable, -0.5, 0.5) * world.direction * world.style_gap
    return np.where(established, ESTABLISHED_STYLE, side)


def importances(
    answers: IntArray, truth: BoolArray, draws: FloatArray, world: World, parameters: Parameters
) -> FloatArray:
    """Importance without noise: the share of the most that a content answers; liars exaggerate.

    ``draws`` are uniform numbers that decide who overclaims.
    """
    least, most = parameters.answers
    claimed = most if world.overclaim > 0 else least
    lies = ~truth & (draws < abs(world.overclaim))
    return np.where(lies, claimed, answers) / most


def style_density(style: ArrayLike, reliable: bool, gap: float, direction: float) -> FloatArray:
    """Density of a claim's style by the kind of its source."""
    side = (-0.5 if reliable else 0.5) * direction * gap
    return _normal(np.asarray(style) - side, 1.0)


def importance_density(
    importance: ArrayLike, truth: bool, overclaim: float, parameters: Parameters
) -> FloatArray:
    """Density of a claim's importance by its truth, whatever the number of its answers."""
    least, most = parameters.answers
    value, noise = np.asarray(importance), parameters.importance_noise
    levels = np.arange(least, most + 1) / most
    honest = np.mean([_normal(value - level, noise) for level in levels], axis=0)
    if truth:
        return np.asarray(honest)
    claimed = levels[-1] if overclaim > 0 else levels[0]
    rate = abs(overclaim)
    return np.asarray((1 - rate) * honest + rate * _normal(value - claimed, noise))


def truth_filter(
    source: IntArray,
    importance: FloatArray,
    style: FloatArray,
    parameters: Parameters,
    family: Family | None = None,
) -> FloatArray:
    """P(true) of each claim of a stream, given the cues of all claims up to it: ``(E,)``.

    A Bayes filter over the worlds of the family and the kinds of the sources, which takes claims
    of one source to be independent but for its kind. It does not use what the similarity of claims
    tells of how many queries each answers: an importance above that number gives a little more away
    (by boosting over nearest neighbours, up to 1.7 points of accuracy in composite and conflicting,
    .4 in hidden).
    """
    family = family or parameters.family
    worlds = list(product(family.style_gaps, family.directions, family.overclaims))
    share = parameters.established / parameters.size.claims
    prior = np.array(
        [share, (1 - share) * (1 - parameters.unreliable), (1 - share) * parameters.unreliable]
    )
    honesty = np.array([parameters.honest, parameters.honest, parameters.dishonest])
    true = np.empty((len(worlds), 3, len(style)))  # worlds, kinds, claims: joint with what is shown
    false = np.empty_like(true)
    for w, (gap, direction, overclaim) in enumerate(worlds):
        shown = np.stack(
            [
                _normal(style - ESTABLISHED_STYLE, 1.0),
                style_density(style, True, gap, direction),
                style_density(style, False, gap, direction),
            ]
        )
        for truth, joint, rate in ((True, true, honesty), (False, false, 1 - honesty)):
            density = importance_density(importance, truth, overclaim, parameters)
            joint[w] = rate[:, None] * shown * density
    evidence = np.log(np.maximum(true + false, 1e-300))
    kinds = np.empty_like(evidence)  # log joint of the kind and all that its source has shown
    gained = np.empty(evidence[:, 0].shape)  # what each claim says of the world
    for place in _places(source):
        kinds[..., place] = evidence[..., place].cumsum(axis=-1) + np.log(prior + 1e-300)[:, None]
        total = np.logaddexp.reduce(kinds[..., place], axis=1)
        gained[:, place] = np.diff(total, axis=-1, prepend=0.0)
    world = np.exp(_normalised(gained.cumsum(axis=-1), axis=0))
    kind = np.exp(_normalised(kinds, axis=1))
    given_kind = true / np.maximum(true + false, 1e-300)
    return np.asarray((world * (kind * given_kind).sum(axis=1)).sum(axis=0))


def _places(source: IntArray) -> list[IntArray]:
    """Places of each source's claims, in order."""
    return [np.flatnonzero(source == number) for number in np.unique(source)]


def _normalised(logs: FloatArray, axis: int) -> FloatArray:
    return np.asarray(logs - np.logaddexp.reduce(logs, axis=axis, keepdims=True))


def _normal(difference: FloatArray, deviation: float) -> FloatArray:
    density = np.exp(-0.5 * (difference / deviation) ** 2)
    return np.asarray(density / (deviation * np.sqrt(2 * np.pi)))
