"""What a goal names: its slots, and the wording that is left when they are taken out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

SLOTS = 3  # that are told apart
# Words in quotes that name a fixed part of the page, not what an episode is about.
FIXED = ("Menu",)
_QUOTED = re.compile(r'"([^"]+)"')
_TAB = re.compile(r"(?<=^Click on )Tab #\d+")
_SELECT = re.compile(r"^(?P<verb>Select) (?P<slot>.+) and click (?P<button>\w+)\.$")


class Goal(NamedTuple):
    """A goal's wording with its targets replaced by their numbers, and the targets in order."""

    wording: str
    slots: tuple[str, ...]

    def slot(self, label: str) -> int | None:
        """Give the number of the slot whose target is called ``label``."""
        return self.slots.index(label) if label in self.slots else None


@lru_cache(maxsize=4096)
def read_goal(text: str) -> Goal:
    """Read a goal: quoted strings are targets, ``A>B>C`` is one each, and so is a tab to click on.

    >>> read_goal('Select kX and click Submit.')
    Goal(wording='Select <1> and click <2>.', slots=('kX', 'Submit'))
    """
    slots: list[str] = []

    def take(target: str) -> str:
        if target in FIXED:
            return target
        marks = []
        for part in target.split(">"):
            name = part.strip()
            if name not in slots:
                slots.append(name)
            marks.append(f"<{slots.index(name) + 1}>")
        return ">".join(marks)

    chosen = _SELECT.match(text)
    if chosen:
        wording = f"Select {take(chosen['slot'])} and click {take(chosen['button'])}."
    else:
        wording = _QUOTED.sub(lambda found: take(found[1]), text)
        wording = _TAB.sub(lambda found: take(found[0]), wording)
    return Goal(wording, tuple(slots))
