"""What files of version 2 say otherwise: they are read as the next version, and rewritten."""

from __future__ import annotations

from typing import Any

from memenvs.policies.weighted_tree.beliefs import STANDS, WITHDRAWN
from memenvs.policies.weighted_tree.nodes import ACTIVE, FOLDED, NONE, OBSOLETE

EARLIER = "memenvs.weighted-tree/2"
CONSTANTS = {"weight": 1.0, "corroboration": 1}  # that it was written with, and does not tell


def raised(event: Any) -> Any:
    """Give an event as it is written today; raises ``LookupError`` or ``TypeError`` for no event.

    Obsolescence was stored, not what it follows from: what was obsolete without a superseder was
    withdrawn, and a task with a summary would be folded otherwise.
    """
    if event["op"] != "state" or "stage" in event["columns"]:
        return event
    columns = dict(event["columns"])
    gone = [lifecycle == OBSOLETE for lifecycle in columns["lifecycle"]]
    metadata = [dict(told) for told in event["metadata"]]
    by = [
        told.pop("superseded_by", None) if off else None
        for told, off in zip(metadata, gone, strict=True)
    ]
    columns["stage"] = [
        (ACTIVE if summary == NONE else FOLDED) if off else lifecycle
        for off, lifecycle, summary in zip(
            gone, columns["lifecycle"], columns["summary"], strict=True
        )
    ]
    columns["told"] = [NONE if new is None else new for new in by]
    columns["withdrawn"] = [
        WITHDRAWN if off and new is None else STANDS for off, new in zip(gone, by, strict=True)
    ]
    columns["by"] = [NONE] * len(gone)
    return event | {"columns": columns, "metadata": metadata}
