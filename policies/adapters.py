"""Adapts what others wrote, a function or an object with ``predict``, to any environment."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.policies.predictor import MASK, Predictor, State, spaces_of


class Adapted(Predictor):
    """What all adapters share: they play by the spaces of an environment alone."""

    def __init__(self, env: Any, seed: int, inner: Any, label: str) -> None:
        super().__init__(env, seed)
        self.read_spaces(env)
        self.inner, self.label = inner, label

    @property
    def alone(self) -> bool:
        """What others wrote may remember an episode by itself, and then plays no two at once."""
        return True

    def moved(self, env: Any, seed: int) -> Self:
        """Give the same for another environment."""
        return type(self)(env, seed, self.inner, self.label)


class FunctionPolicy(Adapted):
    """A function from one observation and its mask to one action.

    The mask is ``(n,)``; where actions are not discrete it is one True. Raises ``ValueError`` for a
    function that takes anything else, and when it gives what is no action.
    """

    def __init__(self, env: Any, seed: int, inner: Callable[..., Any], label: str) -> None:
        super().__init__(env, seed, inner, label)
        try:
            inspect.signature(inner).bind(None, None)
        except TypeError:
            raise ValueError(
                f"the function '{label}' does not take two arguments; write it as "
                f"{label}(observation, mask), which gives an action"
            ) from None
        except ValueError:  # one in C may not tell
            pass

    def act(
        self, observation: Any, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Ask the function for each observation."""
        actions = [self._ask(_row(observation, i), masks[i]) for i in range(len(masks))]
        return np.stack(actions), state

    def _ask(self, observation: Any, mask: NDArray[np.bool_]) -> NDArray[Any]:
        assert self.action_space is not None
        given = self.inner(observation, mask)
        try:
            action = np.asarray(given, dtype=self.action_space.dtype)
            fits = isinstance(self.action_space, spaces.Box) or np.array_equal(action, given)
        except (TypeError, ValueError):
            fits = False
        if not fits or action.shape != self.action_space.shape:
            raise ValueError(
                f"the function '{self.label}' gave {given!r:.60} where an action of "
                f"{_said(self.action_space)} is due"
            )
        return action


class ObjectPolicy(Adapted):
    """An object with SB3's ``predict``; what travels in the state is its own business.

    Masks are given to it where it takes ``action_masks``. What it was fitted to is not known.
    """

    seen: ClassVar[bool | None] = None

    def __init__(self, env: Any, seed: int, inner: Any, label: str) -> None:
        super().__init__(env, seed, inner, label)
        for name, own in zip(("observation", "action"), spaces_of(env), strict=True):
            check_space(label, name, getattr(inner, f"{name}_space", None), own)
        takes = inspect.signature(inner.predict).parameters
        self._masked = "action_masks" in takes or any(
            each.kind is each.VAR_KEYWORD for each in takes.values()
        )

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: NDArray[np.bool_] | bool | None = None,
        deterministic: bool = True,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[Any], Any]:
        """Ask the object; a state that is empty is given as None, which begins an episode."""
        batch, size, single = self._batched(observation)
        masks = self._masks(batch, size, action_masks)
        fresh = state is None or (isinstance(state, tuple) and not state)
        start = np.zeros(size, dtype=bool) if episode_start is None else np.asarray(episode_start)
        given = {"action_masks": masks[0] if single else masks} if self._masked else {}
        actions, after = self.inner.predict(
            observation,
            state=None if fresh else state,
            episode_start=np.broadcast_to(start, (size,)),
            deterministic=deterministic,
            **given,
        )
        return np.asarray(actions), () if after is None else after

    def act(
        self, observation: Any, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Ask the object for a batch."""
        return self.predict(observation, state, action_masks=masks)

    def remark(self) -> str:
        """Say what is not known of it."""
        return "what it was fitted to is not known"


def check_space(label: str, what: str, wanted: Any, given: spaces.Space[Any]) -> None:
    """Refuse an environment whose space is not what a model takes; raises ``ValueError``.

    Of a dictionary the model may take some entries and leave others.
    """
    if not isinstance(wanted, spaces.Space):
        return
    if isinstance(wanted, spaces.Dict) and isinstance(given, spaces.Dict):
        for name, space in sorted(wanted.spaces.items(), key=lambda entry: entry[0] == MASK):
            if name not in given.spaces:
                raise ValueError(
                    f"{label}: takes '{name}' in its {what}s, which this environment does not show"
                )
            check_space(label, f"{what} '{name}'", space, given.spaces[name])
        return
    if _shape(wanted) != _shape(given):
        raise ValueError(
            f"{label}: its {what} is of {_said(wanted)}, and this environment has {_said(given)}; "
            "play it in an environment of the sizes that it was trained with"
        )


def _shape(space: spaces.Space[Any]) -> tuple[Any, ...]:
    """Give what has to be equal of two spaces: bounds and precision may differ."""
    if isinstance(space, spaces.Discrete):
        return "Discrete", int(space.n), int(space.start)
    if isinstance(space, spaces.MultiDiscrete):
        return "MultiDiscrete", *space.nvec.ravel().tolist()
    return "array", space.shape


def _said(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Box | spaces.MultiBinary):
        return f"shape {space.shape}"
    return str(space) if isinstance(space, spaces.Discrete) else f"{space!r:.80}"


def _row(observation: Any, row: int) -> Any:
    if isinstance(observation, dict):
        return {name: array[row] for name, array in observation.items()}
    return observation[row]
