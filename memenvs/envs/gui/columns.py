"""The observation of a page as arrays: what each column says, and the rows of elements and goals.

Every number lies in [-1, 1], so that a table of pages can be kept in single bytes.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.envs.gui.goal import SLOTS, Goal, read_goal
from memenvs.envs.gui.page import KINDS, Page

ELEMENTS = 32  # rows; a page's further elements stand in info["page"] alone
ROLES = (
    "tab",
    "section",
    "folder",
    "menuitem",
    "button",
    "link",
    "file",
    "radio",
    "checkbox",
    "textbox",
)
STATES = ("selected", "open", "closed", "disabled")
BITS = 8  # of a hashed label, each -1 or 1

# Columns of an element: their names, how many numbers each takes, and what they say.
ELEMENT_COLUMNS: dict[str, tuple[int, str]] = {
    "role": (len(ROLES), f"which of {', '.join(ROLES)} it is"),
    "label": (BITS, "hash of its label, each bit -1 or 1"),
    "slot": (SLOTS, "which target of the goal its label is"),
    "state": (len(STATES), f"which of {', '.join(STATES)} it is; none otherwise"),
    "valid": (1, "0: an empty row"),
}
GOAL_COLUMNS: dict[str, tuple[int, str]] = {
    "wording": (BITS, "hash of the goal without its targets, each bit -1 or 1"),
    "targets": (SLOTS * BITS, "hash of each target, zeros where there is none"),
    "present": (SLOTS, "1: the goal names so many targets"),
}
CONTEXT_COLUMNS: dict[str, tuple[int, str]] = {
    "steps_left": (1, "steps left, as a share of the episode"),
}
WIDTH = sum(size for size, _ in ELEMENT_COLUMNS.values())
GOAL_WIDTH = sum(size for size, _ in GOAL_COLUMNS.values())
ACTIONS = ELEMENTS * len(KINDS)

Bytes = NDArray[np.int8]


def observation_space() -> spaces.Dict:
    """Give the space of every environment's observation."""
    return spaces.Dict(
        {
            "elements": spaces.Box(-1.0, 1.0, (ELEMENTS, WIDTH)),
            "goal": spaces.Box(-1.0, 1.0, (GOAL_WIDTH,)),
            "context": spaces.Box(0.0, 1.0, (len(CONTEXT_COLUMNS),)),
            "action_mask": spaces.MultiBinary(ACTIONS),
        }
    )


def element_rows(page: Page) -> Bytes:
    """Describe the elements ``(ELEMENTS, WIDTH)`` in page order."""
    goal = read_goal(page.goal)
    rows = b"".join(
        element_row(element.role, element.label, element.state, goal.slot(element.label))
        for element in page.elements[:ELEMENTS]
    )
    return np.frombuffer(rows.ljust(ELEMENTS * WIDTH, b"\0"), dtype=np.int8).reshape(
        ELEMENTS, WIDTH
    )


@lru_cache(maxsize=8192)
def element_row(role: str, label: str, state: str, slot: int | None) -> bytes:
    """Describe one element; raises ``ValueError`` for a role or state that has no column."""
    for value, known in ((role, ROLES), (state, ("", *STATES))):
        if value not in known:
            raise ValueError(f"'{value}' is no role or state of an element; see columns.py")
    row = [int(role == each) for each in ROLES] + bits(label)
    row += [int(slot == number) for number in range(SLOTS)]
    row += [int(state == each) for each in STATES] + [1]
    return np.array(row, dtype=np.int8).tobytes()


@lru_cache(maxsize=4096)
def goal_row(goal: Goal) -> Bytes:
    """Describe a goal ``(GOAL_WIDTH,)``."""
    targets = goal.slots[:SLOTS]
    missing = SLOTS - len(targets)
    row = bits(goal.wording)
    for target in targets:
        row = row + bits(target)
    row = row + [0] * (BITS * missing) + [1] * len(targets) + [0] * missing
    return np.array(row, dtype=np.int8)


def action_mask(page: Page) -> Bytes:
    """Say which actions are legal ``(ACTIONS,)``: every kind on every element; never none."""
    shown = max(min(len(page.elements), ELEMENTS), 1)
    mask = np.zeros((len(KINDS), ELEMENTS), dtype=np.int8)
    mask[:, :shown] = 1
    return mask.reshape(-1)


@lru_cache(maxsize=8192)
def bits(text: str) -> list[int]:
    """Hash a text into signs, alike in every process."""
    byte = hashlib.blake2b(text.encode(), digest_size=BITS // 8).digest()
    return [1 if byte[i // 8] >> i % 8 & 1 else -1 for i in range(BITS)]
