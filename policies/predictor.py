"""What plays any environment: SB3's ``predict`` over one observation, or over a batch of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.family import MEMORIZATION

Observation = dict[str, NDArray[Any]]  # a batch: every array has a leading axis B
State = tuple[NDArray[Any], ...]  # arrays (B, ...) that travel between the steps of an episode
MASK = "action_mask"  # of an observation


class Predictor(ABC):
    """Answer ``predict``, for one observation or a batch; built for an environment.

    A subclass answers ``act`` for a batch, and ``start`` with the state of new episodes. One that
    plays any environment calls ``read_spaces`` when it is built.
    """

    family: ClassVar[str] = ""  # of environments that it plays; all of them where it is empty
    privileged: ClassVar[bool] = False  # whether it reads what no agent may know
    knows: ClassVar[str] = ""  # what it is told besides observations: "rates" of a generator
    seen: ClassVar[bool | None] = False  # whether it was fitted to what it plays; None: not known

    # An array of an observation, and how many axes it has in a single one.
    _axes: tuple[str | None, int] = ("context", 1)
    action_space: spaces.Space[Any] | None = None  # known to what plays any environment

    @property
    def alone(self) -> bool:
        """Whether it plays one episode after another: it learns from each, or asks elsewhere."""
        return False

    def __init__(self, env: Any, seed: int = 0) -> None:
        self.seed = seed
        self._episodes = 0

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: NDArray[np.bool_] | bool | None = None,
        deterministic: bool = True,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[Any], Any]:
        """Give an action for one observation, or for each of a batch, and the next state.

        Masks are read from the observation unless given: ``(n,)`` or ``(B, n)``.
        """
        batch, size, single = self._batched(observation)
        masks = self._masks(batch, size, action_masks)
        begun = np.ones(size, dtype=bool) if state is None else np.zeros(size, dtype=bool)
        if episode_start is not None:
            begun |= np.broadcast_to(np.asarray(episode_start, dtype=bool), (size,))
        if begun.any():
            state = self._begin(state, begun)
        actions, state = self.act(batch, masks, state)
        return (actions[0] if single else actions), state

    def anew(self, seed: int) -> Self:
        """Give one that plays as if it were just built, with another seed."""
        fresh = copy(self)
        fresh.seed, fresh._episodes = seed, 0
        return fresh

    def moved(self, env: Any, seed: int) -> Self:
        """Give the same for another environment; raises ``ValueError`` where that cannot be."""
        return type(self)(env, seed)

    @abstractmethod
    def act(
        self, observation: Any, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Give ``(B,)`` actions, or ``(B, ...)`` where the space is not discrete, and the state.

        Masks are ``(B, n)``; where actions are not discrete all of ``(B, 1)`` are true.
        """

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Give the state of new episodes; ``episodes`` counts those that this policy began."""
        return ()

    def read_spaces(self, env: Any) -> None:
        """Learn the spaces of one observation and one action; raises ``ValueError`` for others."""
        seen, self.action_space = spaces_of(env)
        key = None
        if isinstance(seen, spaces.Dict):
            key = next(iter(seen.spaces))
            seen = seen.spaces[key]
        if seen.shape is None:
            raise ValueError(
                f"observations of {type(seen).__name__} are not arrays; wrap the environment so "
                "that it shows arrays, or a dictionary of arrays"
            )
        self._axes = key, len(seen.shape)

    def _batched(self, observation: Any) -> tuple[Any, int, bool]:
        """Give a batch, how many observations it holds, and whether it was a single one."""
        key, axes = self._axes
        if key is None:
            array = np.asarray(observation)
            single = array.ndim == axes
            return (array[None] if single else array), 1 if single else len(array), single
        single = np.ndim(observation[key]) == axes
        batch = {name: np.asarray(a)[None] if single else a for name, a in observation.items()}
        return batch, len(batch[key]), single

    def _masks(self, batch: Any, size: int, given: NDArray[Any] | None) -> NDArray[np.bool_]:
        if given is None and isinstance(batch, dict):
            given = batch.get(MASK)
        if given is not None:
            return np.atleast_2d(given).astype(bool)
        n = int(self.action_space.n) if isinstance(self.action_space, spaces.Discrete) else 1
        return np.ones((size, n), dtype=bool)

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


def spaces_of(env: Any) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Give the spaces of one observation and of one action, of an environment or a vector of them.

    What stands in the place of an environment, as a ``WriteMemory``, has a layout instead. Raises
    ``TypeError`` for what has neither.
    """
    for prefix in ("single_", ""):
        seen, action = (
            getattr(env, f"{prefix}{name}_space", None) for name in ("observation", "action")
        )
        if isinstance(seen, spaces.Space) and isinstance(action, spaces.Space):
            return seen, action
    if not hasattr(env, "layout"):
        raise TypeError(f"{type(env).__name__} has no observation_space and action_space")
    priority = env.rules.action == "priority"
    n = 1 if priority else env.actions.n
    shown = env.layout.space(env.rules.capacity, n)
    return shown, spaces.Box(-1.0, 1.0, (1,)) if priority else spaces.Discrete(n)


def family_of(env: Any) -> str:
    """Name the family of an environment, or of a vector of them; empty for one that is not ours."""
    owners: tuple[Any, ...] = (getattr(env, "unwrapped", None), env)
    for owner in owners:
        if hasattr(owner, "layout") and hasattr(owner, "rules"):
            return MEMORIZATION.name  # also a game, whose writers write, and a live memory
        if hasattr(owner, "family"):
            return str(owner.family.name)
        if hasattr(owner, "envs"):
            return family_of(owner.envs[0])
    return family_of(env.batch) if hasattr(env, "batch") else ""  # our adapter to SB3
