"""The simplest memories: random, first-in-first-out, reservoir, longest text, confidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.counter import uniforms
from memenvs.policies.base import Chance, Observation, State
from memenvs.policies.rules.rule import Rule


class Random(Chance):
    """Take any legal action of any environment, all equally likely."""

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        self.read_spaces(env)
        self._draw = uniform_actions(self.action_space)

    def act(
        self, observation: Any, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Draw one legal action, or a uniform priority."""
        keys, step = state
        return self._draw(masks, lambda stream: uniforms(keys, stream, step)), (keys, step + 1)


class Reservoir(Chance, Rule):
    """Keep a uniform sample of the claims read so far (Vitter's algorithm R)."""

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Order a pool as it stands."""
        return -np.broadcast_to(np.arange(rows.shape[1], dtype=np.float64), rows.shape[:2])

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Fill the slots, then keep the n-th claim with probability S/n, in a random slot."""
        keys, read = state
        reading = observation["claim"][:, self.layout.index("valid")] == 1
        read = read + reading
        chance, place = (uniforms(keys, stream, read) for stream in (0, 1))
        if self.rules.action == "priority":  # the S highest of random keys are a uniform sample
            return (2 * chance - 1).astype(np.float32)[:, None], (keys, read)
        legal = masks[:, 1 : 1 + self.actions.slots]
        free = legal & (observation["memory"][..., self.layout.index("valid")] == 0)
        kept = free.any(axis=1) | (chance * read < self.actions.slots)
        actions = np.where(kept & legal.any(axis=1), 1 + nth_legal(legal, place), self.actions.PASS)
        if self.layout.pool:
            order = self.score(observation["claims"], observation)
            following = self.next_claim(observation, masks, order)
            actions = np.where(reading, actions, following)
        return actions, (keys, read)


class FirstInFirstOut(Rule):
    """Keep the newest claims: the one written first makes way."""

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Time of writing; a claim that is not stored would be written now."""
        left = observation["context"][:, None, self.layout.index("decisions_left", "context")]
        age = rows[..., self.layout.index("age")]
        written: NDArray[Any] = 1 - left - age
        if rows is observation.get("claims"):  # a pool is considered as it stands
            return np.asarray(written - np.arange(rows.shape[1]))
        return written


class Longest(Rule):
    """Keep the longest texts."""

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        if not self.layout.limits.texts:
            raise ValueError("the policy 'longest' needs claims with a text; these have none")

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Length of the text."""
        length: NDArray[Any] = rows[..., self.layout.index("length")]
        return length


class Confidence(Rule):
    """Keep the claims of highest confidence."""

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Confidence of the claim."""
        confidence: NDArray[Any] = rows[..., self.layout.index("confidence")]
        return confidence


def nth_legal(masks: NDArray[np.bool_], drawn: NDArray[np.float64]) -> NDArray[np.int64]:
    """Turn uniform numbers ``(B,)`` into legal places, equally likely; 0 where none is legal."""
    wanted = (drawn * masks.sum(axis=1)).astype(np.int64)
    return np.asarray((masks.cumsum(axis=1) > wanted[:, None]).argmax(axis=1))


def uniform_actions(
    space: spaces.Space[Any] | None,
) -> Callable[[NDArray[np.bool_], Callable[[int], NDArray[np.float64]]], NDArray[Any]]:
    """Give what draws actions of a space from masks and from streams of uniform numbers ``(B,)``.

    A box without an end is drawn from as if it ended at -1 and 1. Raises ``ValueError`` for
    spaces that are neither numbers nor arrays of them.
    """
    if isinstance(space, spaces.Discrete):
        first = space.start
        return lambda masks, draw: first + nth_legal(masks, draw(0))
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        own: Any = space
        low = getattr(own, "start", np.zeros(own.shape, dtype=np.int64))
        width: NDArray[Any] = getattr(own, "nvec", np.full(own.shape, 2))
    elif isinstance(space, spaces.Box):
        low = np.where(space.bounded_below, space.low, -1.0)
        width = np.where(space.bounded_above, space.high, 1.0) - low
    else:
        raise ValueError(f"'random' draws numbers, and actions here are of {type(space).__name__}")

    def drawn(masks: NDArray[np.bool_], draw: Callable[[int], NDArray[np.float64]]) -> NDArray[Any]:
        uniform = np.stack([draw(stream) for stream in range(low.size)], axis=1)
        uniform = uniform.reshape(-1, *low.shape)
        if isinstance(space, spaces.Box):
            return np.asarray(low + width * uniform, dtype=space.dtype)
        return np.asarray(low + (width * uniform).astype(np.int64), dtype=space.dtype)

    return drawn
