"""The observation's columns: what they say, their ranges, and the spaces that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gymnasium import spaces

from memenvs.envs.memorization.columns import UNIT, Column
from memenvs.envs.memorization.layout import Columns
from memenvs.materials.poisoning.records import KINDS, SOURCES
from memenvs.materials.poisoning.sets import MAX_ENTRIES

TOKEN_UNIT = 100.0  # tokens are given, and priced, by the hundred
MAX_PROMPTS = MAX_ENTRIES + 1
COUNT_UNIT = 4.0
FAR = 100.0  # above every count and share

# What does not depend on the choices made at a prompt, then what does.
FIXED_COLUMNS: dict[str, Column] = {
    "valid": Column(0, 1, "1 where an entry is recorded"),
    "relevance": Column(-UNIT, UNIT, "cosine of its text and the question"),
    "answers": Column(0, 1, "1 if it offers an answer to the question"),
    "success": Column(0, 1, "1 if it was recorded as a success"),
    **{source: Column(0, 1, f"1 if its source is of kind {source}") for source in SOURCES},
    **{kind: Column(0, 1, f"1 if it is of kind {kind}") for kind in KINDS},
    "tokens": Column(0, FAR, "its length, in hundreds of tokens"),
    "same_subtask": Column(0, 1, "1 if it belongs to the active subtask"),
    "age": Column(0, FAR, "share of the recorded entries that came after it"),
    "place": Column(0, FAR, "entries of its subtask before it, in fours"),
    "agreeing": Column(0, FAR, "other entries with its answer to its question, in fours"),
    "differing": Column(0, FAR, "entries with another answer to its question, in fours"),
    "superseded": Column(0, 1, "1 if a later success of an official source answers otherwise"),
    "confidence": Column(0, 1, "confidence stated with it"),
}
CHOICE_COLUMNS: dict[str, Column] = {
    "chosen": Column(0, 1, "1 if it is in the context"),
    "agreeing_chosen": Column(0, FAR, "entries in the context with its answer, in fours"),
    "differing_chosen": Column(0, FAR, "entries in the context with another answer, in fours"),
}
CONTEXT_COLUMNS: dict[str, Column] = {
    "prompts_left": Column(0, FAR, "share of the prompts that are still to come"),
    "recorded": Column(0, FAR, "recorded entries, in fours"),
    "at_root": Column(0, 1, "1 in the final step"),
    "room": Column(0, FAR, "tokens left of the budget, in hundreds"),
    "chosen": Column(0, FAR, "entries in the context, in fours"),
}


@dataclass(frozen=True)
class PoisoningLayout:
    """Columns of the two arrays: ``entries`` (a row for each) and ``context``."""

    entries: Columns
    context: Columns

    @property
    def described(self) -> dict[str, dict[str, Column]]:
        """What the columns of each array say."""
        return {"entries": FIXED_COLUMNS | CHOICE_COLUMNS, "context": CONTEXT_COLUMNS}

    def slice(self, name: str, of: str = "entries") -> slice:
        """Place of a column; raises ``KeyError`` that lists the known names."""
        columns: Columns = getattr(self, of)
        if name not in columns.slices:
            raise KeyError(f"{of} has no column '{name}'; it has {', '.join(columns.slices)}")
        return columns.slices[name]

    def index(self, name: str, of: str = "entries") -> int:
        """Number of a column."""
        return int(self.slice(name, of).start)

    def space(self) -> spaces.Dict:
        """Space of the observation."""
        arrays: dict[str, spaces.Space[Any]] = {
            "entries": self.entries.box(MAX_ENTRIES),
            "context": self.context.box(),
            "action_mask": spaces.MultiBinary(1 + MAX_ENTRIES),
        }
        return spaces.Dict(arrays)


LAYOUT = PoisoningLayout(
    Columns.build(FIXED_COLUMNS | CHOICE_COLUMNS, {}), Columns.build(CONTEXT_COLUMNS, {})
)
