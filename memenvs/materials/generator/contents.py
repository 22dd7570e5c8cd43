"""What a generated material is about: queries, and the contents that answer them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.generator.parameters import Parameters, World

SPREAD = 1.0  # of the queries of a topic, around its centre of length 1
PART_SPREAD = 0.5  # of the parts of a composite, around the queries that they answer together
ALONE = -1  # composite of a content that answers by itself


@dataclass(frozen=True, eq=False)
class Contents:
    """What there is to be stated: K contents over Q queries. Drawn before any truth."""

    topic: IntArray  # (K,)
    answers: BoolArray  # (K, Q) queries that a content answers; a part: with its whole composite
    composite: IntArray  # (K,) composite that a content is a part of, ALONE if none
    vector: FloatArray  # (K, d)
    weight: FloatArray  # (Q,) sums to 1
    query_vector: FloatArray  # (Q, d)


def draw_contents(
    parameters: Parameters, world: World, count: int, generator: np.random.Generator
) -> Contents:
    """Draw the queries of a material and ``count`` contents."""
    size = parameters.size
    query_topic = np.repeat(np.arange(size.topics), size.queries)
    weight = world.masses[query_topic] * generator.gamma(2.0, size=len(query_topic))
    query_vector = world.centres[query_topic] + normals(
        SPREAD, (len(query_topic), size.dimension), generator
    )
    composite = _composites(parameters, count, generator)
    # Contents that belong together share topic and answers.
    whole = np.where(composite == ALONE, np.arange(count), composite)
    topic = _topics(parameters, world, count, generator)[whole]
    asked = _asked(parameters, composite != ALONE)
    answers = _subsets(parameters.answers, asked, generator)[whole]
    placed = np.zeros((count, size.topics, size.queries), dtype=bool)
    placed[np.arange(count), topic] = answers
    flat = placed.reshape(count, -1)
    vector = flat @ query_vector / flat.sum(axis=1, keepdims=True)
    if parameters.composite:
        parts = normals(PART_SPREAD, vector.shape, generator)
        vector += parts * (composite != ALONE)[:, None]
    return Contents(topic, flat, composite, vector, weight / weight.sum(), query_vector)


def normals(length: float, shape: tuple[int, int], generator: np.random.Generator) -> FloatArray:
    """Draw vectors of about that length in every direction."""
    return np.asarray(generator.standard_normal(shape) * (length / np.sqrt(shape[1])))


def _topics(
    parameters: Parameters, world: World, count: int, generator: np.random.Generator
) -> IntArray:
    """Draw a topic for each content, whatever its mass.

    An established source tells of the lighter topics, newcomers of the heavier half.
    """
    topics = generator.integers(parameters.size.topics, size=count)
    if parameters.established:
        heavier, lighter = np.split(np.argsort(-world.masses), [parameters.size.topics // 2])
        safe = generator.choice(lighter, size=parameters.established)
        topics = np.concatenate(
            [safe, generator.choice(heavier, size=count - parameters.established)]
        )
    return topics


def _composites(parameters: Parameters, count: int, generator: np.random.Generator) -> IntArray:
    """Put contents together by twos and threes; a composite is named after its first content."""
    composite = np.full(count, ALONE)
    end, place = round(parameters.composite * count), 0
    while place < end:
        parts = int(generator.integers(2, 4))
        if place + parts > count:
            break
        composite[place : place + parts] = place
        place += parts
    return composite


def _asked(parameters: Parameters, together: BoolArray) -> BoolArray:
    """Queries of a topic that each content may answer: ``(K, queries)``.

    Where there are composites, half of the queries are left to them and half to single claims.
    """
    queries = parameters.size.queries
    if not parameters.composite:
        return np.ones((len(together), queries), dtype=bool)
    return np.asarray((np.arange(queries) < queries // 2) == together[:, None])


def _subsets(sizes: tuple[int, int], asked: BoolArray, generator: np.random.Generator) -> BoolArray:
    """Draw for each row a subset of what is asked, of a size between the two."""
    wanted = generator.integers(sizes[0], sizes[1] + 1, size=len(asked))
    order = np.where(asked, generator.random(asked.shape), 2.0).argsort(axis=1).argsort(axis=1)
    return np.asarray(order < wanted[:, None])
