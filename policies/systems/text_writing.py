"""Writing by words: a decision as a text, and an action as JSON, for a language model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.records import Claim

SHOWN = 80
RIGHT, WRONG = "answered rightly", "answered wrongly"


@dataclass(frozen=True)
class AskedQuery:
    """A query that is known, and what became of it."""

    text: str
    weight: float | None  # its share of p_D, where that is known
    outcome: bool | None  # None: not settled


def check_writable(rules: Rules, layout: Layout, what: str) -> None:
    """Raise ``ValueError`` where an environment cannot be written to by words."""
    if rules.access == "pool" or rules.action == "priority":
        raise ValueError(
            f"{what} reads a stream and writes slots; it plays neither access='pool' nor "
            "action='priority'"
        )
    if not layout.limits.texts:
        raise ValueError(f"{what} needs claims with a text; these have none")


def describe(
    view: Privileged,
    observation: dict[str, NDArray[Any]],
    layout: Layout,
    asked: Sequence[AskedQuery] = (),
) -> str:
    """Say what is observed of one episode: statement, memory, queries; nothing of truth."""
    claims = view.load().claims
    left = float(observation["context"][layout.index("decisions_left", "context")])
    lines = [f"{left:.0%} of the statements are still to be read, with this one."]
    if view.considered is None:
        lines.append("Statement: none; all were read.")
    else:
        row = observation["claim"]
        lines.append(f"Statement: {_told(claims[view.considered], row, layout)}")
    lines.append("Memory:")
    for place, claim in enumerate(view.slots.tolist(), start=1):
        if claim == EMPTY:
            lines.append(f"{place}: free")
        else:
            told = _told(claims[claim], observation["memory"][place - 1], layout)
            lines.append(f"{place}: {told}")
    if asked:
        lines.append("Questions:")
        lines += [_asked(each) for each in asked]
    return "\n".join(lines)


def instruction(rules: Rules, actions: Actions) -> str:
    """Say what may be answered."""
    clear = ' {"action": "clear", "slot": 1} empties a slot;' if actions.clears else ""
    return (
        f"You read statements one by one and can keep at most {rules.capacity} of them, to answer "
        "later questions. Some statements may be false. Decide about the statement below. Reply "
        'with JSON alone: {"action": "keep"} writes it into a free slot; '
        '{"action": "replace", "slot": 1} writes it over what is in a slot, where none is free;'
        f'{clear} {{"action": "pass"}} lets it go.'
    )


def read_action(
    reply: str, actions: Actions, slots: NDArray[np.int64], mask: NDArray[Any]
) -> tuple[int, str]:
    """Turn a reply into an action; and "", or what is wrong with it, and then it is a pass."""
    try:
        said = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
    except (ValueError, RecursionError):
        return actions.PASS, f"no JSON object: {reply!a:.{SHOWN}}"
    action = said.get("action")
    if action == "pass":
        return actions.PASS, ""
    writes = np.asarray(mask[1 : 1 + actions.slots], dtype=bool)
    if action == "keep":
        free = writes & (slots == EMPTY)
        if free.any():
            return actions.first_write + int(free.argmax()), ""
        return actions.PASS, "no slot is free to keep it in"
    if action not in ("replace", "clear"):
        return actions.PASS, f"unknown action: {action!a:.{SHOWN}}"
    slot = said.get("slot")
    if type(slot) is not int or not 1 <= slot <= actions.slots:
        return actions.PASS, f"no slot: {slot!a:.{SHOWN}}"
    if action == "replace":
        if writes[slot - 1] and slots[slot - 1] != EMPTY:
            return actions.first_write + slot - 1, ""
        return actions.PASS, f"slot {slot} cannot be replaced"
    if actions.clears and mask[actions.first_clear + slot - 1]:
        return actions.first_clear + slot - 1, ""
    return actions.PASS, f"slot {slot} cannot be cleared"


def asked_of(env: Any) -> list[AskedQuery]:
    """Give the queries that an environment's running episode has disclosed, the newest first.

    Those known beforehand stand in the material's order. Empty where feedback tells of none, and
    for what has no episode: a batch, a stream from outside.
    """
    inner = getattr(env, "unwrapped", env)
    episode = getattr(inner, "episode", None)
    if episode is None:
        return []
    rules, queries = episode.rules, episode.prepared.material.queries
    outcomes = {} if rules.feedback == "none" else {s.query: s.answered for s in episode.log}
    if rules.disclosure == "all":
        mass = episode.prepared.material.incidence.probability.tolist()
        return [AskedQuery(query.text, mass[n], outcomes.get(n)) for n, query in enumerate(queries)]
    if rules.disclosure == "one":
        known = episode.known_query
        return [AskedQuery(queries[known].text, 1.0, outcomes.get(known))]
    if rules.feedback == "none":
        return []
    shown = episode.log[: -1 - inner.layout.query_rows : -1]
    return [AskedQuery(queries[each.query].text, None, each.answered) for each in shown]


def _told(claim: Claim, row: NDArray[Any], layout: Layout) -> str:
    facts = [
        f"{name} {json.dumps(value, ensure_ascii=False)}"
        for name in ("source", "group", "time", "confidence")
        if (value := getattr(claim, name)) not in (None, "")
    ]
    for name, meaning in (("credits", RIGHT), ("debits", WRONG)):
        count = int(row[layout.index(name, "claim")])
        if count:
            facts.append(f"{meaning} with it: {count}")
    return json.dumps(claim.text, ensure_ascii=False) + (f" ({'; '.join(facts)})" if facts else "")


def _asked(query: AskedQuery) -> str:
    weight = "" if query.weight is None else f" ({query.weight:.0%} of what will be asked)"
    outcome = {None: "", True: f": {RIGHT}", False: f": {WRONG}"}[query.outcome]
    return f"- {json.dumps(query.text, ensure_ascii=False)}{weight}{outcome}"
