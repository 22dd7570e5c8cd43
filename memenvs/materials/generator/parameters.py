"""What a tier of generated materials is made of: sizes, rates, and the worlds behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memenvs.material.incidence import FloatArray


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much there is of everything; equal for all materials of a tier."""

    claims: int
    slots: int  # of the memory that the tier's environments give
    sources: int
    topics: int
    queries: int  # of each topic
    dimension: int  # of embeddings


@dataclass(frozen=True, kw_only=True)
class Family:
    """The worlds that a material may come from; each choice is made evenly and independently."""

    skew: float = 1.3  # the r-th heaviest topic has a mass of about r ** -skew
    level: int = 1  # so many topics share each rank
    style_gaps: tuple[float, ...]  # between honest and unreliable sources, in standard deviations
    directions: tuple[float, ...] = (1.0,)  # 1: the styles of unreliable sources are higher
    # Rate at which a false claim's importance looks the highest; below 0: the lowest.
    overclaims: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The rates of a tier. What depends on truth: importance, by overclaiming, and nothing else."""

    size: Size
    family: Family
    fresh_worlds: bool = False  # a world for each material, not one for the tier
    honest: float = 0.95  # P(true) of a claim by a reliable source
    dishonest: float = 0.05  # by an unreliable one
    unreliable: float  # share of the sources
    repeats: float = 0.3  # share of the claims whose content was stated before
    independent: float = 0.5  # share of those told by another source: they agree or contradict
    late: float = 0.3  # the earliest that these come, as a share of the stream that is left
    answers: tuple[int, int] = (1, 3)  # queries that a content answers, least and most
    importance_noise: float = 0.15
    embedding_noise: float = 0.35
    composite: float = 0.0  # share of the contents that answer only together with others
    stance: float = 0.0  # how far contradicting claims are apart in the embedding
    withdrawing: float = 0.0  # chance that a false claim withdraws another one's item
    opening: float = 0.0  # share of the claims that open the stream, by an established source

    @property
    def established(self) -> int:
        """Claims by a source that is known to be reliable; they open the stream."""
        return round(self.opening * self.size.claims)


@dataclass(frozen=True, eq=False)
class World:
    """What the claims of one material have in common."""

    centres: FloatArray  # (T, d) unit rows, the directions of the topics
    masses: FloatArray  # (T,) share of the queries, sums to 1
    style_gap: float
    direction: float
    overclaim: float


def draw_world(parameters: Parameters, generator: np.random.Generator) -> World:
    """Draw a world of the family."""
    size, family = parameters.size, parameters.family
    centres = generator.standard_normal((size.topics, size.dimension))
    ranks = generator.permutation(size.topics) // family.level
    masses = (1.0 + ranks) ** -family.skew
    return World(
        centres=centres / np.linalg.norm(centres, axis=1, keepdims=True),
        masses=masses / masses.sum(),
        style_gap=float(generator.choice(family.style_gaps)),
        direction=float(generator.choice(family.directions)),
        overclaim=float(generator.choice(family.overclaims)),
    )
