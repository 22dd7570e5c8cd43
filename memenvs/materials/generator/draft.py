"""A generated material before it becomes records: everything that was drawn, hidden or not.

The order of the draws keeps truth out of what is observed: content, number of answers, repetition,
source and place in the stream come first; truth follows the reliability of the source alone; only
then liars overclaim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.generator.contents import Contents, draw_contents, normals
from memenvs.materials.generator.cues import COSTS, importances, styles
from memenvs.materials.generator.parameters import Parameters, World

SESSION = 8  # claims
NONE = -1


@dataclass(frozen=True, eq=False)
class Draft:
    """E claims in the order of the stream, by S sources, over the contents of a material."""

    world: World
    contents: Contents
    content: IntArray  # (E,)
    repeated: BoolArray  # (E,) whether the content was stated before
    source: IntArray  # (E,)
    truth: BoolArray  # (E,)
    withdraws: IntArray  # (E,) claim whose item a claim withdraws, NONE if none
    embedding: FloatArray  # (E, d)
    importance: FloatArray  # (E,)
    style: FloatArray  # (E,)
    confidence: FloatArray  # (E,)
    cost: IntArray  # (E,)
    time: FloatArray  # (E,) ascending
    reliable: BoolArray  # (S,)
    established: BoolArray  # (S,)


def draw_draft(parameters: Parameters, world: World, generator: np.random.Generator) -> Draft:
    """Draw all that makes a material of that world."""
    size = parameters.size
    originals = size.claims - round(parameters.repeats * size.claims)
    contents = draw_contents(parameters, world, originals, generator)
    content, source = _statements(parameters, contents, generator)
    order = _order(parameters, content, source, generator)
    content, source, repeated = content[order], source[order], order >= originals
    target = _targets(parameters, contents, content, generator)

    reliable = _kinds(parameters, generator)
    established = np.arange(size.sources) < (parameters.established > 0)
    honesty = np.where(reliable, parameters.honest, parameters.dishonest)
    # A source says the same of a content whenever it says it.
    truth = (generator.random((originals, size.sources)) < honesty)[content, source]

    answers = contents.answers.sum(axis=1)[content]
    importance = importances(answers, truth, generator.random(size.claims), world, parameters)
    labels = generator.permutation(size.sources)  # a source's number says nothing of its kind
    return Draft(
        world=world,
        contents=contents,
        content=content,
        repeated=repeated,
        source=labels[source],
        truth=truth,
        withdraws=np.where(truth, NONE, target),
        embedding=_embeddings(parameters, contents, content, truth, generator),
        importance=importance
        + parameters.importance_noise * generator.standard_normal(size.claims),
        style=styles(reliable, established, world)[source] + generator.standard_normal(size.claims),
        confidence=generator.uniform(size=size.claims),
        cost=generator.integers(COSTS[0], COSTS[1] + 1, size=size.claims),
        time=np.cumsum(generator.exponential(size=size.claims)),
        reliable=reliable[np.argsort(labels)],
        established=established[np.argsort(labels)],
    )


def _statements(
    parameters: Parameters, contents: Contents, generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Say what is stated by whom: contents for the first time, then repetitions: ``(E,)`` each."""
    size = parameters.size
    known, originals = parameters.established, len(contents.topic)
    speakers = size.sources - (known > 0)
    first = generator.integers(speakers, size=originals)
    if known:  # newcomers take turns, so that each is heard early and again
        first = (np.arange(originals) - known) % speakers
    elif parameters.composite:  # parts are told by the one who tells the first
        first = np.where(contents.composite >= 0, first[contents.composite], first)
    count = size.claims - originals
    again = generator.integers(known, originals, size=count)  # the established is not repeated
    shift = generator.integers(1, speakers, size=count)
    independent = generator.random(count) < parameters.independent
    repeating = (first[again] + np.where(independent, shift, 0)) % speakers
    source = np.concatenate([first, repeating]) + (known > 0)
    source[:known] = 0
    return np.concatenate([np.arange(originals), again]), source


def _order(
    parameters: Parameters, content: IntArray, source: IntArray, generator: np.random.Generator
) -> IntArray:
    """Order the stream: a repetition follows what it repeats, another source's only late.

    Where there is an established source it opens the stream; then every newcomer is heard once,
    the established one again, and last the newcomers with the rest.
    """
    originals = int(content.max()) + 1
    moment = generator.random(len(content))
    if parameters.established:
        known, newcomers = parameters.established, parameters.size.sources - 1
        moment[: known // 2] -= 3.0
        moment[known : known + newcomers] -= 2.0
        moment[known // 2 : known] -= 1.0
    stated = np.maximum(moment[content[originals:]], 0.0)
    least = np.where(source[originals:] == source[content[originals:]], 0.0, parameters.late)
    moment[originals:] = stated + (1.0 - stated) * (least + (1.0 - least) * moment[originals:])
    return np.argsort(moment, kind="stable")


def _targets(
    parameters: Parameters, contents: Contents, content: IntArray, generator: np.random.Generator
) -> IntArray:
    """Choose whose item each claim would withdraw: one of its content, or else of its topic."""
    claims = len(content)
    if not parameters.withdrawing:
        return np.full(claims, NONE)
    topic = contents.topic[content]
    closeness = generator.random((claims, claims))
    closeness += topic[:, None] == topic
    closeness += content[:, None] == content
    np.fill_diagonal(closeness, -1.0)
    target = closeness.argmax(axis=1)
    chosen = (topic == topic[target]) & (generator.random(claims) < parameters.withdrawing)
    return np.where(chosen, target, NONE)


def _kinds(parameters: Parameters, generator: np.random.Generator) -> BoolArray:
    """Choose the reliable sources: at least one, their share being right in the mean."""
    newcomers = parameters.size.sources - (parameters.established > 0)
    liars = int(parameters.unreliable * newcomers + generator.random())
    reliable = generator.permutation(newcomers) >= min(liars, newcomers - 1)
    return np.concatenate([[True], reliable]) if parameters.established else reliable


def _embeddings(
    parameters: Parameters,
    contents: Contents,
    content: IntArray,
    truth: BoolArray,
    generator: np.random.Generator,
) -> FloatArray:
    """Blur the contents' vectors; what contradicts lies apart along a direction of the content."""
    vectors = contents.vector[content]
    vectors = vectors + normals(parameters.embedding_noise, vectors.shape, generator)
    if parameters.stance:
        direction = normals(parameters.stance, contents.vector.shape, generator)
        vectors = vectors + np.where(truth, 1.0, -1.0)[:, None] * direction[content]
    return np.asarray(vectors)
