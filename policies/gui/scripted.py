"""A frozen policy written by hand: it clicks what the goal names, and else two containers in turn.

It reads the arrays of an observation alone, so that it plays scalar environments and batches.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.family import GUI
from memenvs.envs.gui.columns import ELEMENT_COLUMNS, ROLES, STATES
from memenvs.envs.gui.goal import SLOTS
from memenvs.envs.gui.gui_env import encode
from memenvs.envs.gui.page import CLICK, HOVER, Action
from memenvs.policies.predictor import Observation, Predictor, State

ALTERNATIVES = 4  # m: length of a shortlist
CONTAINERS = ("tab", "section", "folder")
Rows = NDArray[Any]


class ScriptedPolicy(Predictor):
    """Act as a frozen agent would that forgets what it tried.

    Where exactly one visible element carries the label that the goal names, that is the whole
    shortlist. Else the second and the first container in turn, then the other ones in page order.
    The state is the number of steps taken in the episode.
    """

    family: ClassVar[str] = GUI.name
    _axes = "elements", 2

    def __init__(self, env: Any = None, seed: int = 0) -> None:
        super().__init__(env, seed)

    def shortlist(
        self, observation: Any, info: dict[str, Any], state: Any = None
    ) -> tuple[list[int], int]:
        """Give up to four distinct legal actions, its own choice first, and the next state."""
        step = 0 if state is None else int(state)
        named = shortcut(observation)
        found = named if named else self._search(observation["elements"], step)
        return found[:ALTERNATIVES], step + 1

    def observe(self, executed: int, state: Any) -> Any:
        """Forget it, as a frozen agent does."""
        return state

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Begin at the first step."""
        return (np.zeros(len(episodes), dtype=np.int64),)

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[np.int64], State]:
        """Give its own choice for each of a batch."""
        (steps,) = state
        actions = np.zeros(len(steps), dtype=np.int64)
        for i, step in enumerate(steps.tolist()):
            each = {name: array[i] for name, array in observation.items()}
            actions[i] = self.shortlist(each, {}, step)[0][0]
        return actions, (steps + 1,)

    def _search(self, rows: Rows, step: int) -> list[int]:
        """List what may hide the target: where nothing does, all that is in view."""
        role, state, valid = _column(rows, "role"), _column(rows, "state"), rows[:, -1] == 1
        holds = np.isin(role, [ROLES.index(name) for name in CONTAINERS])
        item = role == ROLES.index("menuitem")
        holds |= item & np.isin(state, [STATES.index("open"), STATES.index("closed")])
        if not np.isin(role[holds], [ROLES.index(name) for name in CONTAINERS]).any():
            holds |= role == ROLES.index("button")
        places = np.flatnonzero((holds if (holds & valid).any() else valid) & valid).tolist()
        if not places:
            return [0]
        first = places[1] if step % 2 == 0 and len(places) > 1 else places[0]
        order = [first, *(place for place in places if place != first)]
        return [encode(Action(place, HOVER if item[place] else CLICK)) for place in order]


def shortcut(observation: dict[str, Any]) -> list[int]:
    """List clicks on the elements that carry the label the goal names: of its targets the first.

    What is selected already has been dealt with, and the next target counts.
    """
    rows = observation["elements"]
    slot, state = _column(rows, "slot"), _column(rows, "state")
    box = np.isin(_column(rows, "role"), [ROLES.index("radio"), ROLES.index("checkbox")])
    dealt = box & (state == STATES.index("selected"))
    for target in range(SLOTS):
        here = slot == target
        if here.any() and not (here & dealt).any():
            return [encode(Action(place, CLICK)) for place in np.flatnonzero(here).tolist()]
    return []


def _column(rows: Rows, name: str) -> NDArray[np.int64]:
    """Give the number that a group of columns marks in each row, -1 where it marks none."""
    start = 0
    for column, (size, _) in ELEMENT_COLUMNS.items():
        if column == name:
            group = rows[:, start : start + size]
            return np.where(group.any(axis=1), group.argmax(axis=1), -1)
        start += size
    raise KeyError(name)
