"""The write policy that comes with the package: it was trained on texts of others."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.material.incidence import FloatArray
from memenvs.policies.base import Observation, State
from memenvs.policies.learned.support_size import SupportSize
from memenvs.policies.rules.joint import scheduled
from memenvs.policies.rules.rule import Rule
from memenvs.storage.whole import write_whole

FORMAT = "memenvs.pretrained/1"
SHIPPED = "pretrained.json"
PRIOR = 20.0  # claims for which the training texts' statistics count
CLIP = 4.0  # standard deviations
SINGLE = 1.5  # claims behind an answer, up to which they are judged one by one


@dataclass(frozen=True)
class Weights:
    """Worth of a claim, linear in its columns, and what settled successes add to it."""

    columns: tuple[str, ...]
    mean: tuple[float, ...]  # of the columns in the training texts
    deviation: tuple[float, ...]
    weights: tuple[float, ...]  # of standardised columns
    credits: float  # of log(1 + n) settled successes
    ageing: float = 0.0  # what a claim without successes loses over an episode, where it matters
    card: dict[str, Any] = field(default_factory=dict)  # data, licence, command, results

    def __post_init__(self) -> None:
        """Check that the parts go together; raises ``ValueError``."""
        parts = (self.mean, self.deviation, self.weights)
        constants = (self.credits, self.ageing)
        numbers = np.array([*np.concatenate(parts), *constants], dtype=np.float64)
        if any(len(part) != len(self.columns) for part in parts) or not np.isfinite(numbers).all():
            raise ValueError("weights, means and deviations are not one finite number a column")
        if min(self.deviation, default=0.0) <= 0:
            raise ValueError("a deviation is not positive")

    def save(self, path: str | Path) -> None:
        """Write them as JSON."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
        write_whole(Path(path), f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | Path | None = None) -> Weights:
        """Read what ``save`` wrote, or what comes with the package; raises ``ValueError``."""
        own = files("memenvs.policies.learned").joinpath(SHIPPED)
        text = own.read_text("utf-8") if path is None else Path(path).read_text("utf-8")
        try:
            found = json.loads(text)
            if found.pop("format") != FORMAT:
                raise ValueError
            columns, card = tuple(map(str, found.pop("columns"))), dict(found.pop("card"))
            credits, ageing = (float(found.pop(name)) for name in ("credits", "ageing"))
            numbers = {name: tuple(map(float, values)) for name, values in found.items()}
            return cls(columns=columns, card=card, credits=credits, ageing=ageing, **numbers)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ValueError(f"{path} holds no weights of the policy 'pretrained'") from None


@dataclass(frozen=True)
class RunningStatistics:
    """Statistics of what was read so far, from which ``PRIOR`` training claims fade: ``(B, f)``."""

    count: FloatArray  # (B, 1)
    total: FloatArray
    squares: FloatArray

    @classmethod
    def begun(cls, weights: Weights, episodes: int) -> RunningStatistics:
        """Know the training texts alone."""
        mean, deviation = np.array(weights.mean), np.array(weights.deviation)
        width = (episodes, len(mean))
        return cls(
            np.full((episodes, 1), PRIOR),
            np.broadcast_to(PRIOR * mean, width),
            np.broadcast_to(PRIOR * (deviation**2 + mean**2), width),
        )

    def read(self, values: FloatArray, there: NDArray[np.bool_]) -> RunningStatistics:
        """Count one claim an episode ``(B, f)``, where there is one ``(B,)``."""
        seen = there[:, None].astype(np.float64)
        return RunningStatistics(
            self.count + seen, self.total + seen * values, self.squares + seen * values**2
        )

    def standardised(self, values: FloatArray) -> FloatArray:
        """Give columns of claims ``(B, n, f)`` in standard deviations, clipped."""
        mean = self.total / self.count
        deviation = np.sqrt(np.maximum(self.squares / self.count - mean**2, 1e-6))
        found = (values - mean[:, None]) / deviation[:, None]
        return np.asarray(np.clip(found, -CLIP, CLIP))


class Pretrained(Rule):
    """Keep what was asked about in texts of others, and what was settled since.

    The worth of a claim is linear in a few columns of its words, standardised by what was read so
    far, plus a weight times log(1 + settled successes); stored claims are judged again at every
    step. Where answers prove to need several claims, a claim that was never behind one is worth the
    less the longer it is kept, so that what was read together stays together. It reads no
    embedding. A column that a material lacks counts as average: without texts settled successes
    alone decide. ``pretrained:FILE`` plays the weights that `memenvs pretrain` wrote. The state is
    what was read so far, ``(B, 1 + 2 f)``, and what is known of supports, ``(B, 5 + S)``.
    """

    variants = "FILE"

    def __init__(self, env: Any, seed: int = 0, *, variant: str | None = None) -> None:
        super().__init__(env, seed)
        self.weights = Weights.load(variant)
        self._running = RunningStatistics.begun(self.weights, 1)
        self._ageing: FloatArray = np.zeros(1)

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Know the training texts alone."""
        begun = RunningStatistics.begun(self.weights, len(episodes))
        supports = SupportSize.begun(
            len(episodes), self.actions.slots, scheduled(self.rules, self.layout)
        )
        return np.concatenate([begun.count, begun.total, begun.squares], axis=1), supports.numbers

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Count the claim that is considered, then judge it and the stored ones."""
        claim = observation["claim"]
        running = RunningStatistics(*np.split(state[0], [1, 1 + len(self.weights.columns)], axis=1))
        there = claim[:, self.layout.index("valid")] == 1
        read = columns_of(claim, self.weights.columns, self.weights.mean, self.layout)
        self._running = now = running.read(read, there)
        supports = SupportSize(state[1]).seen(observation, self.layout)
        self._ageing = self.weights.ageing * np.clip(supports.mean - SINGLE, 0.0, 1.0)
        actions, _ = super().act(observation, masks, state)
        if self.rules.action != "priority":  # the slots of priorities are not ours to choose
            supports = supports.written(actions)
        numbers = np.concatenate([now.count, now.total, now.squares], axis=1)
        return actions, (numbers, supports.numbers)

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Worth of each claim: ``(B, n)``."""
        read = columns_of(rows, self.weights.columns, self.weights.mean, self.layout)
        settled, age = (
            rows[..., self.layout.index(name)].astype(np.float64) for name in ("credits", "age")
        )
        prior = self._running.standardised(read) @ np.array(self.weights.weights)
        worth = prior + self.weights.credits * np.log1p(settled)
        return np.asarray(worth - self._ageing[:, None] * age / (1.0 + settled))


def columns_of(
    rows: NDArray[Any], names: tuple[str, ...], means: tuple[float, ...], layout: Layout
) -> FloatArray:
    """Read columns of rows ``(..., width)`` by name: ``(..., f)``; one that is lacking is average.

    Columns are single numbers.
    """
    known = layout.claim.slices
    found = [
        rows[..., layout.index(name)] if name in known else np.full(rows.shape[:-1], mean)
        for name, mean in zip(names, means, strict=True)
    ]
    return np.stack(found, axis=-1).astype(np.float64)
