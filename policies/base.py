"""What every policy shares: SB3's ``predict`` over one observation or a batch of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from memenvs.counter import uniforms
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.rules import Actions, Rules

Observation = dict[str, NDArray[Any]]  # a batch: every array has a leading axis B
State = tuple[NDArray[Any], ...]  # arrays (B, ...) that travel between the steps of an episode


class Policy(ABC):
    """Choose writes from observations; built for an environment, from which it takes the layout.

    A subclass answers ``act`` for a batch, and ``start`` with the state of new episodes.
    """

    privileged: ClassVar[bool] = False  # whether it reads what no agent may know
    knows: ClassVar[str] = ""  # what it is told besides observations: "rates" of a generator

    @property
    def alone(self) -> bool:
        """Whether it plays one episode after another: it learns from each, or asks elsewhere."""
        return False

    def __init__(self, env: Any, seed: int = 0) -> None:
        self.layout: Layout = attribute(env, "layout")
        self.rules: Rules = attribute(env, "rules")
        self.actions: Actions = attribute(env, "actions")
        self.seed = seed
        self._episodes = 0

    def predict(
        self,
        observation: dict[str, NDArray[Any]],
        state: State | None = None,
        episode_start: NDArray[np.bool_] | bool | None = None,
        deterministic: bool = True,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[Any], State]:
        """Give an action for one observation, or for each of a batch, and the next state.

        Masks are read from the observation unless given: ``(n,)`` or ``(B, n)``.
        """
        single = observation["context"].ndim == 1
        batch = {name: np.asarray(a)[None] if single else a for name, a in observation.items()}
        masks = batch["action_mask"] if action_masks is None else np.atleast_2d(action_masks)
        size = len(batch["context"])
        begun = np.ones(size, dtype=bool) if state is None else np.zeros(size, dtype=bool)
        if episode_start is not None:
            begun |= np.broadcast_to(np.asarray(episode_start, dtype=bool), (size,))
        if begun.any():
            state = self._begin(state, begun)
        assert state is not None
        actions, state = self.act(batch, masks.astype(bool), state)
        return (actions[0] if single else actions), state

    def anew(self, seed: int) -> Self:
        """Give one that plays as if it were just built, with another seed."""
        fresh = copy(self)
        fresh.seed, fresh._episodes = seed, 0
        return fresh

    @abstractmethod
    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Give ``(B,)`` actions, or ``(B, 1)`` priorities, and the next state."""

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Give the state of new episodes; ``episodes`` counts those that this policy began."""
        return ()

    def _begin(self, state: State | None, begun: NDArray[np.bool_]) -> State:
        numbers = self._episodes + np.arange(int(begun.sum()))
        self._episodes += len(numbers)
        fresh = self.start(numbers)
        if state is None or begun.all():
            return fresh
        merged = tuple(array.copy() for array in state)
        for array, new in zip(merged, fresh, strict=True):
            array[begun] = new
        return merged


class Chance(Policy):
    """A policy with chance of its own: it depends on its seed, the episode and the step alone.

    The state is a random key for each episode, ``(B,)``, and a counter that starts at 0; draws are
    ``uniforms(key, stream, counter)``.
    """

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Give the keys and counters of new episodes."""
        return chances(self.seed, episodes)


def chances(seed: int, episodes: NDArray[np.int64]) -> State:
    """Give a random key for each episode, and a counter that starts at 0: ``(B,)`` each."""
    drawn = uniforms(np.uint64(seed), 0, episodes)
    return (drawn * 2.0**53).astype(np.uint64), np.zeros(len(episodes), dtype=np.int64)


def attribute(env: Any, name: str) -> Any:
    """Read an attribute of a Gymnasium environment, a vector of them, or an SB3 ``VecEnv``."""
    for owner in (env, getattr(env, "unwrapped", None)):
        if hasattr(owner, "layout"):  # by this we know our own: a VecEnv has "actions", too
            return getattr(owner, name)
    if hasattr(env, "get_attr"):
        return env.get_attr(name)[0]
    raise TypeError(f"{type(env).__name__} is no memorization environment: it has no '{name}'")


def privileged(env: Any) -> list[Privileged]:
    """Look into the running episodes of an environment or of a vector of them: oracles alone do."""
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "privileged_views"):
        return list(inner.privileged_views())
    if hasattr(inner, "envs"):
        return [view for each in inner.envs for view in privileged(each)]
    raise ValueError(f"a policy that looks into the episodes cannot play in {type(env).__name__}")
