"""Values of states: the discounted terminal occupancy of the recorded process (section 2.4)."""

from __future__ import annotations

import numpy as np

from memenvs.material.incidence import FloatArray
from memenvs.policies.bisimulation.graph import COUNT, FAILURE, SOURCE, SUCCESS, TARGET, Graph

PRECISION = 1e-13  # of a value


def values(graph: Graph, discount: float, known: FloatArray) -> FloatArray:
    """V = (1 - γ)(I - γP)⁻¹ r: ``(n,)``; terminals absorb with r = ±1, so that V is ±1 there.

    Swept to a fixed point from the values ``known`` before, ``(at most n,)``; a state at which
    nothing was done is worth 0.
    """
    source, target, count = graph.edges[SOURCE], graph.edges[TARGET], graph.edges[COUNT]
    value: FloatArray = np.zeros(graph.nodes)
    value[: len(known)] = known
    share = discount * count / np.bincount(source, weights=count, minlength=graph.nodes)[source]
    while True:  # a contraction by γ
        weights = share * value[target]
        following = np.bincount(source, weights=weights, minlength=graph.nodes).astype(float)
        following[SUCCESS], following[FAILURE] = 1.0, -1.0
        change = np.abs(following - value).max()
        value = following
        if change < PRECISION:
            return value
