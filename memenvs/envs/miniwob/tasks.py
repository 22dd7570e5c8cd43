"""The registered MiniWoB++ tasks."""

from __future__ import annotations

from typing import NamedTuple


class PageTask(NamedTuple):
    """What is known of a page beforehand."""

    kind: str  # "container": the goal names one of several; "control": nothing to remember
    fresh: bool = False  # whether an episode leaves traces, so that the next needs the page anew


TASKS: dict[str, PageTask] = {
    "click-tab-2": PageTask("container"),
    "click-collapsible-2": PageTask("container"),
    "click-tab-2-hard": PageTask("container"),
    "click-menu-2": PageTask("container", fresh=True),  # jQuery's menu remembers its active item
    "click-tab": PageTask("control"),
    "click-link": PageTask("control"),
    "click-button": PageTask("control"),
    "click-option": PageTask("control"),
}
