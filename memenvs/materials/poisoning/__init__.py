"""Scenarios of memory poisoning: long tasks whose history holds entries that mislead."""

from memenvs.materials.poisoning.records import Entry, Event, Prompt, Scenario, Slot, Subtask
from memenvs.materials.poisoning.sets import SPLITS, Split, draw_set, scenario_set

__all__ = [
    "SPLITS",
    "Entry",
    "Event",
    "Prompt",
    "Scenario",
    "Slot",
    "Split",
    "Subtask",
    "draw_set",
    "scenario_set",
]
