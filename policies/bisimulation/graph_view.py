"""The graph of a memory to look at: Graphviz's DOT, and one HTML page that needs nothing else."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from memenvs.policies.bisimulation.graph import TERMINALS
from memenvs.policies.bisimulation.memory import TransitionMemory

ENDS = ("success", "failure", "cut")
COLOURS = {"success": "#2a9d4a", "failure": "#c8372d", "cut": "#8a8a8a"}


class Decision(NamedTuple):
    """One override: where, what the policy wanted, what was taken instead, and why."""

    page: int  # signature
    given: str
    taken: str
    given_score: float
    taken_score: float


def graph_of(
    memory: TransitionMemory,
    names: Mapping[int, str] | None = None,
    decisions: Sequence[Decision] = (),
) -> dict[str, Any]:
    """Describe the blocks of a memory: their pages, and what each action led to how often.

    ``names`` are titles of pages and actions, by signature and template (as a ``GuiMemory`` keeps
    them). ``evidence`` of an action is q_B on a page of its block.
    """
    names = names or {}
    numbers = memory.partition()
    templates = memory.templates()
    block_of = dict(enumerate(numbers.values(), TERMINALS))
    pages: dict[int, list[int]] = {}
    for signature, block in numbers.items():
        pages.setdefault(block, []).append(signature)
    leads: dict[int, dict[int, dict[str, int]]] = {}  # by block and action
    for source, action, target, count, _ in memory.graph.edges.T.tolist():
        end = ENDS[target] if target < TERMINALS else str(block_of[target])
        ends = leads.setdefault(block_of[source], {}).setdefault(action, {})
        ends[end] = ends.get(end, 0) + count
    blocks = []
    for block, members in pages.items():
        done = leads.get(block, {})
        known = memory.evidence(members[0], [templates[action] for action in done])
        actions: list[dict[str, Any]] = [
            {"action": names.get(templates[action], f"action {templates[action]}"), "leads": ends}
            for action, ends in done.items()
        ]
        for each, value in zip(actions, known.values, strict=True):
            each["evidence"] = round(float(value), 4)
        titles = [names.get(page, f"page {page}") for page in members]
        blocks.append({"block": block, "pages": titles, "actions": actions})
    overrides = [
        {
            **each._asdict(),
            "page": names.get(each.page, f"page {each.page}"),
            "block": numbers.get(each.page),
        }
        for each in decisions
    ]
    return {"rule": memory.rule, "blocks": blocks, "overrides": overrides}


def as_dot(graph: Mapping[str, Any]) -> str:
    """Write a graph for Graphviz: a node for each block, an edge for each action and outcome."""
    lines = ["digraph memory {", "  node [shape=box];"]
    for end in ENDS:
        lines.append(f'  "{end}" [shape=ellipse, color="{COLOURS[end]}"];')
    for block in graph["blocks"]:
        title = f"block {block['block']}: {len(block['pages'])} pages\\n{block['pages'][0]}"
        lines.append(f'  "{block["block"]}" [label="{_quoted(title)}"];')
        for action in block["actions"]:
            for end, count in action["leads"].items():
                label = f"{action['action']} ×{count} ({action['evidence']:+.2f})"
                lines.append(f'  "{block["block"]}" -> "{end}" [label="{_quoted(label)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def as_html(graph: Mapping[str, Any]) -> str:
    """Write a graph as a page: blocks to click on, what their actions lead to, what was overridden.

    It holds all it needs, and runs from a file.
    """
    page = files("memenvs.policies.bisimulation").joinpath("graph.html").read_text("utf-8")
    data = json.dumps(graph).replace("<", "\\u003c")
    title = html.escape(f"memory under the rule {graph['rule']}")
    return page.replace("__TITLE__", title).replace("__GRAPH__", data)


def _quoted(text: str) -> str:
    kept = "".join(c for c in text if c.isprintable())
    return kept.replace('"', '\\"')
