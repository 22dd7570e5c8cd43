"""The configurations of the paper as one table of five switches."""

from __future__ import annotations

from typing import Literal, NamedTuple

History = Literal["none", "linear", "tree"]


class Configuration(NamedTuple):
    """What a memory does; the switches mean something where the history is a tree."""

    name: str
    history: History
    scores: bool  # retention scores, their decay, and branch priorities
    selector: bool  # single memories by relevance; else whole branches, or all that is eligible
    folding: bool  # a completed branch is represented by its summary
    supersession: bool  # a superseded or invalidated memory becomes obsolete
    suppression: bool  # branches of low priority become obsolete; folded ones reopen in detail


TABLE: tuple[Configuration, ...] = (
    #             name                     history  scores selector folding supersession suppression
    Configuration("no-memory", "none", False, False, False, False, False),
    Configuration("linear", "linear", False, False, False, False, False),
    Configuration("tree", "tree", False, False, False, False, False),
    Configuration("tree+selection", "tree", False, True, False, False, False),
    Configuration("tree+summary", "tree", False, False, True, False, False),
    Configuration("tree+selection+summary", "tree", False, True, True, False, False),
    Configuration("full", "tree", True, True, True, True, True),
    Configuration("a1", "tree", False, True, True, True, False),
    Configuration("a2", "tree", True, True, False, False, False),
    Configuration("a3", "tree", True, False, True, True, True),
)
CONFIGURATIONS: dict[str, Configuration] = {row.name: row for row in TABLE}
# The seven of the component study (tables 2 and 3 of the paper), and the five of its table 4.
COMPONENTS = (
    "no-memory",
    "linear",
    "tree",
    "tree+selection",
    "tree+summary",
    "tree+selection+summary",
    "full",
)
ABLATIONS = ("linear", "a1", "a2", "a3", "full")


def configuration(name: str | Configuration) -> Configuration:
    """Give the configuration of that name, or itself; raises ``ValueError`` with the names."""
    if isinstance(name, Configuration):
        return name
    if name not in CONFIGURATIONS:
        raise ValueError(
            f"no configuration is named '{name}'; choose from {', '.join(CONFIGURATIONS)}"
        )
    return CONFIGURATIONS[name]
