"""What a line of a tree's file may say: fields with their ranges, and nodes that exist."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from memenvs.policies.weighted_tree.beliefs import REINSTATED
from memenvs.policies.weighted_tree.nodes import (
    ACTION,
    GLOBAL,
    KINDS,
    LIFECYCLES,
    NONE,
    OBSOLETE,
    OUTCOMES,
    ROOT,
    SUMMARY,
    TASK,
    Nodes,
)
from memenvs.policies.weighted_tree.state import Event, State
from memenvs.storage.reading import checked
from memenvs.storage.strict import Strict

MOST = 2**53
Node = Annotated[int, Field(ge=0, lt=MOST)]
Reference = Annotated[int, Field(ge=NONE, lt=MOST)]  # to a node, or to none
Count = Annotated[int, Field(ge=0, le=MOST)]
Told = Literal["success", "failure"]
Step = str | Annotated[int, Field(ge=-MOST, le=MOST)] | None


class _Task(Strict):
    op: str
    text: str
    metadata: dict[str, Any]
    root: bool = False  # whether it begins a tree of its own


class _Action(_Task):
    outcome: Told | None
    supersedes: list[Node] = Field(default=[])
    parent: Node = 0  # the active task unless told


class _Outcome(Strict):
    op: str
    node: Node
    outcome: Told | None


class _Complete(Strict):
    op: str
    node: Node
    summary: str | None
    evidence: list[Node] = Field(default=[])
    warnings: list[Node] = Field(default=[])
    result: str = ""
    tokens: Count = 0


class _Obsolete(Strict):
    op: str
    nodes: list[Node]
    by: Node | None


class _OfNode(Strict):
    op: str
    node: Node


class _Return(Strict):
    op: str
    node: Node
    details: bool


class _Context(Strict):
    op: str
    step: Step
    selected: list[Node]
    tokens: Count
    selector_tokens: Count
    suppressed: list[Node]


class _Last(_Context):
    path: list[Node]
    candidates: list[Node]


class _Columns(Strict):
    kind: list[Annotated[int, Field(ge=0, lt=len(KINDS))]]
    parent: list[Reference]
    task: list[Node]
    root: list[Reference]
    top: list[Node]
    depth: list[Node]
    stage: list[Annotated[int, Field(ge=0, lt=OBSOLETE)]]
    lifecycle: list[Annotated[int, Field(ge=0, lt=len(LIFECYCLES))]]
    withdrawn: list[Annotated[int, Field(ge=0, le=REINSTATED)]]
    told: list[Reference]
    by: list[Reference]
    outcome: list[Annotated[int, Field(ge=0, lt=len(OUTCOMES))]]
    score: list[Annotated[float, Field(ge=0, le=1)]]
    missed: list[Count]
    tokens: list[Count]
    mark: list[Node]
    summary: list[Reference]


class _State(Strict):
    op: str
    texts: list[str]
    metadata: list[dict[str, Any]]
    columns: _Columns
    root: Reference
    active: Reference
    last: _Last | Annotated[dict[str, Any], Field(max_length=0)]
    tokens: Annotated[list[Count], Field(min_length=3, max_length=3)]


SCHEMAS: dict[str, type[Strict]] = {
    "task": _Task,
    "action": _Action,
    "outcome": _Outcome,
    "complete": _Complete,
    "obsolete": _Obsolete,
    "reinstate": _OfNode,
    "forget": _OfNode,
    "return": _Return,
    "global": _Task,
    "context": _Context,
    "state": _State,
}
# Of which kinds the nodes of a field must be.
OF_KIND = {
    ("outcome", "node"): (ACTION,),
    ("complete", "node"): (ROOT, TASK),
    ("return", "node"): (ROOT, TASK),
    ("context", "suppressed"): (TASK,),
    ("action", "supersedes"): (ACTION,),
    ("action", "parent"): (ROOT, TASK),
    ("forget", "node"): (ACTION,),
}
FIELDS = (
    "node",
    "nodes",
    "by",
    "supersedes",
    "parent",
    "evidence",
    "warnings",
    "selected",
    "suppressed",
)


def apply_checked(state: State, event: Event) -> None:
    """Make the change that a line says; raises ``ValueError`` for one that no tree could write."""
    op = event.get("op")
    if not isinstance(op, str) or op not in SCHEMAS:
        raise ValueError("is no change of a tree")
    checked(SCHEMAS[op], event, "")
    nodes = state.nodes
    if op == "state":
        _check_state(event, len(nodes))
    elif op == "action" and state.active == NONE and "parent" not in event:
        raise ValueError("an action needs an active task")
    elif op == "complete" and event["summary"] is not None:
        if not {"evidence", "warnings", "tokens"} <= event.keys():
            raise ValueError("a summary has evidence, warnings and tokens")
    elif op == "global":
        _check_built(event["metadata"], len(nodes))
    for field in FIELDS:
        _check_nodes(nodes, event.get(field), OF_KIND.get((op, field), ()))
    state.apply(event)


def _check_nodes(nodes: Nodes, named: Any, kinds: tuple[int, ...]) -> None:
    for node in [] if named is None else named if isinstance(named, list) else [named]:
        if node >= len(nodes) or (kinds and nodes.kind[node] not in kinds):
            raise ValueError("names a node that is not there, or of another kind")


def _check_built(metadata: dict[str, Any], before: int) -> None:
    """Check what a summary or a global memory was built from: earlier nodes."""
    for name in ("evidence", "warnings"):
        built = metadata.get(name, [])
        if not isinstance(built, list) or not all(
            type(node) is int and 0 <= node < before for node in built
        ):
            raise ValueError("was built from nodes that are not there")


def _check_state(event: Event, before: int) -> None:
    """Check that a saved tree is one: every part for every node, parents before children."""
    columns, count = event["columns"], len(event["texts"])
    if before or {len(event["metadata"]), *map(len, columns.values())} != {count}:
        raise ValueError("has parts of unequal length, or follows other changes")
    for name in ("parent", "task", "root", "top", "summary", "told", "by"):
        if any(node >= count for node in columns[name]):
            raise ValueError(f"'{name}' names a node that is not there")
    kind, parent = columns["kind"], columns["parent"]
    for node in range(count):
        above = parent[node]
        inner = kind[node] in (TASK, ACTION, SUMMARY)
        if inner != (above != NONE) or above >= node or columns["mark"][node] > count:
            raise ValueError("a node stands before its parent, or without one")
        if columns["depth"][node] != (columns["depth"][above] + 1 if inner else 0):
            raise ValueError("a node is at another depth than its parent says")
        if inner and kind[above] not in (ROOT, TASK):
            raise ValueError("a node hangs on what is no task")
        if kind[node] in (SUMMARY, GLOBAL):
            _check_built(event["metadata"][node], node)
    for name in ("root", "active"):
        if event[name] >= count or (event[name] != NONE and kind[event[name]] not in (ROOT, TASK)):
            raise ValueError(f"'{name}' is no task")
    last = event["last"]
    for name in ("selected", "suppressed", "path", "candidates"):
        if any(node >= count for node in last.get(name, ())):
            raise ValueError("the last context names a node that is not there")
