"""What callers give to an environment, checked alike in every family: a sentence says the fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from memenvs.envs.rows import Rows
from memenvs.material.incidence import BoolArray

RESET_MASK = "reset_mask"


def check_counts(**counts: Any) -> None:
    """Raise ``ValueError`` for a number that is not a positive integer; None is left alone."""
    for name, number in counts.items():
        whole = isinstance(number, Integral) and not isinstance(number, bool)
        if number is not None and not (whole and number >= 1):
            raise ValueError(f"{name}={number!r} is not a positive integer")


def check_render_mode(mode: Any, known: Sequence[str], *, batch: bool = False) -> None:
    """Raise ``ValueError`` for a render mode that there is none of; a batch has no window."""
    if batch:
        if mode == "human" and mode in known:
            raise ValueError("render_mode='human' shows one episode; use gym.make() for it")
        known = [name for name in known if name != "human"]
    if mode is not None and mode not in known:
        raise ValueError(f"render_mode={mode!r} is unknown; choose from {', '.join(known)}")


def as_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Read an autoreset mode: a member of ``AutoresetMode``, its name or its value."""
    for known in AutoresetMode:
        if mode in (known, known.name, known.value):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ValueError(f"autoreset_mode={mode!r} is unknown; choose from {names}")


def read_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> Mapping[str, Any]:
    """Give the options of a reset; raises ``ValueError`` that names the one nearest to a wrong one.

    What is not known would otherwise be ignored, such as a split that somebody means to play.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"the options of reset are a dictionary, not {options!r:.80}")
    for name in options:
        if name not in known:
            nearest = get_close_matches(str(name), known, n=1, cutoff=0.0)[0]
            raise ValueError(
                f"reset has no option {name!r:.80}; the nearest is '{nearest}' "
                f"(known: {', '.join(known)})"
            )
    return options


def read_mask(given: Any, num_envs: int) -> BoolArray:
    """Check ``options["reset_mask"]``: ``(B,)``, True where an episode begins anew; None is all."""
    if given is None:
        return np.ones(num_envs, dtype=bool)
    mask = np.asarray(given)
    if mask.dtype != np.bool_ or mask.shape != (num_envs,) or not mask.any():
        raise ValueError(
            f"options['reset_mask'] must be boolean, of shape ({num_envs},), and True somewhere; "
            f"it is {given!r:.80}"
        )
    return mask


def read_each(name: str, given: Any, num_envs: int) -> list[Any]:
    """Give what each environment plays: one value for all, or a sequence of one for each."""
    if not isinstance(given, list | tuple | np.ndarray) or np.ndim(given) == 0:
        return [given] * num_envs
    if len(given) != num_envs:
        raise ValueError(f"{len(given)} {name}s were given for {num_envs} environments")
    return list(given)


def read_actions(actions: Any, space: spaces.Space[Any]) -> NDArray[Any]:
    """Give an action, or those of a batch, as an array of its space's shape.

    Raises ``ValueError`` for another shape, and for what is no number, or no integer where actions
    are numbered. Numbers that stand for no action are left to the family: they are illegal.
    """
    found, shape = np.asarray(actions), space.shape
    if found.shape != shape:
        raise ValueError(f"actions have shape {found.shape}, not {shape}")
    numbered = space.dtype is not None and space.dtype.kind in "iu"
    if found.dtype.kind not in ("iu" if numbered else "iuf"):
        what = "integers" if numbered else "numbers"
        raise ValueError(f"actions are {what}, and these have the type {found.dtype}")
    return found


def refusal(action: str) -> str:
    """Say that an action is illegal."""
    return f"{action} is illegal here; the legal ones stand in action_masks()"


def refuse_first(rows: Rows, legal: BoolArray, name: Callable[[int], str]) -> None:
    """Raise ``ValueError`` for the first illegal action of some rows: ``legal`` is ``(n,)``.

    ``name`` gives an action in words by its place among them.
    """
    if not legal.all():
        place = int((~legal).argmax())
        raise ValueError(f"environment {rows.numbers[place]}: {refusal(name(place))}")
