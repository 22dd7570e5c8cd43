"""The nodes of the tree as arrays that grow; parents stand before their children."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.weighted_tree.quoting import LABELS, WARNING, quoted
from memenvs.policies.weighted_tree.tokens import count_tokens

Kind = Literal["root", "task", "action", "summary", "global"]
Outcome = Literal["success", "failure"]

KINDS: tuple[Kind, ...] = ("root", "task", "action", "summary", "global")
ROOT, TASK, ACTION, SUMMARY, GLOBAL = range(5)
LIFECYCLES = ("active", "completed", "folded", "obsolete")
ACTIVE, COMPLETED, FOLDED, OBSOLETE = range(4)
OUTCOMES: tuple[Outcome | None, ...] = (None, "success", "failure")
UNKNOWN, SUCCESS, FAILURE = range(3)
NONE = -1

LABEL_TOKENS = 2  # the label and its colon

COLUMNS: dict[str, Any] = {
    "kind": np.int8,
    "parent": np.int64,  # NONE for roots and globals
    "task": np.int64,  # the task that it belongs to; a task or a global memory is its own
    "root": np.int64,  # of its tree; NONE for globals
    "top": np.int64,  # of its ancestors and itself, the child of the root; else the root
    "depth": np.int64,
    "stage": np.int8,  # its lifecycle, but for obsolescence
    "lifecycle": np.int8,  # derived, see beliefs.py
    "withdrawn": np.int8,  # whether it was taken back, by hand or by its priority
    "told": np.int64,  # the node to which it was told to give way; NONE
    "by": np.int64,  # the official success that supersedes it; NONE
    "outcome": np.int8,
    "score": np.float64,  # u
    "missed": np.int64,  # m
    "tokens": np.int64,  # of its line in a prompt
    "mark": np.int64,  # of a task: its nodes before this one stand behind its summary
    "summary": np.int64,  # of a task: its current summary; NONE
}


def checked_outcome(outcome: str | None) -> str | None:
    """Give an outcome back; raises ``ValueError`` where it is unknown."""
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome={outcome!r} is unknown; give 'success', 'failure' or None")
    return outcome


class Nodes:
    """``n`` nodes; every array has shape ``(n,)`` and is a view to be written into."""

    kind: NDArray[np.int8]
    parent: IntArray
    task: IntArray
    root: IntArray
    top: IntArray
    depth: IntArray
    stage: NDArray[np.int8]
    lifecycle: NDArray[np.int8]
    withdrawn: NDArray[np.int8]
    told: IntArray
    by: IntArray
    outcome: NDArray[np.int8]
    score: FloatArray
    missed: IntArray
    tokens: IntArray
    mark: IntArray
    summary: IntArray

    def __init__(self) -> None:
        self._store = {name: np.zeros(64, dtype=kind) for name, kind in COLUMNS.items()}
        self.texts: list[str] = []
        self.metadata: list[dict[str, Any]] = []  # of its execution: source and what else is told

    def __len__(self) -> int:
        return len(self.texts)

    def __getattr__(self, name: str) -> NDArray[Any]:
        """Give a column as far as there are nodes."""
        if name not in COLUMNS:
            raise AttributeError(name)
        column: NDArray[Any] = self._store[name][: len(self.texts)]
        return column

    def append(
        self, kind: int, text: str, parent: int, score: float, metadata: dict[str, Any]
    ) -> int:
        """Add a node, active and without an outcome; gives its number."""
        number, store = len(self.texts), self._store
        if number == len(store["kind"]):
            store = {n: np.concatenate([a, np.zeros_like(a)]) for n, a in store.items()}
            self._store = store
        child = parent != NONE
        first = {
            "kind": kind,
            "parent": parent,
            "task": number if kind in (ROOT, TASK, GLOBAL) else parent,
            "root": store["root"][parent] if child else (number if kind == ROOT else NONE),
            "top": self._top(kind, number, parent),
            "depth": store["depth"][parent] + 1 if child else 0,
            "score": score,
            "tokens": LABEL_TOKENS + count_tokens(quoted(text)),
            "summary": NONE,
            "told": NONE,
            "by": NONE,
        }
        for name, value in first.items():  # the rest is zero
            store[name][number] = value
        self.texts.append(text)
        self.metadata.append(metadata)
        return number

    def saved(self) -> dict[str, Any]:
        """Give everything as JSON holds it."""
        columns = {name: getattr(self, name).tolist() for name in COLUMNS}
        return {"texts": self.texts, "metadata": self.metadata, "columns": columns}

    def load(self, saved: dict[str, Any]) -> None:
        """Take what ``saved`` gave; raises ``ValueError`` where its parts are of unequal length."""
        store = {name: np.array(saved["columns"][name], kind) for name, kind in COLUMNS.items()}
        lengths = {len(saved["texts"]), len(saved["metadata"]), *(len(a) for a in store.values())}
        if len(lengths) > 1:
            raise ValueError("parts of unequal length")
        self.texts, self.metadata = saved["texts"], saved["metadata"]
        padding = {name: np.zeros(64, dtype=kind) for name, kind in COLUMNS.items()}
        self._store = {name: np.concatenate([a, padding[name]]) for name, a in store.items()}

    def line(self, number: int) -> str:
        """Give a node's line in a prompt; what was recorded cannot add one."""
        label = WARNING if self.outcome[number] == FAILURE else LABELS[self.kind[number]]
        return f"{label}: {quoted(self.texts[number])}"

    def path(self, task: int) -> list[int]:
        """Give the tasks from the root to this one; none from NONE."""
        found = []
        while task != NONE:
            found.append(task)
            task = int(self.parent[task])
        return found[::-1]

    def inherited(self, flags: BoolArray) -> BoolArray:
        """Say of each node whether it or an ancestor has the flag: ``(n,)``, by doubling steps."""
        found = flags.copy()
        own = np.arange(len(self))
        above = np.where(self.parent == NONE, own, self.parent)
        reach, deepest = 1, int(self.depth.max(initial=0))
        while reach <= deepest:
            found |= found[above]
            above = above[above]
            reach *= 2
        return found

    def _top(self, kind: int, number: int, parent: int) -> int:
        if parent == NONE:
            return number
        at_root = self._store["parent"][parent] == NONE
        return number if at_root and kind == TASK else int(self._store["top"][parent])
