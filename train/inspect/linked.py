"""The links that `memenvs build` wrote beside a material: how each was found, and how sure."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.material import Material
from memenvs.strict_json import read_json_lines
from memenvs.train.own_material.links import METHODS, links_path

LOW = 0.7  # a link of less is worth a look


def links_of(material: Material, file: Path) -> dict[str, Any] | None:
    """Summarise the links of a file's only material: None where there are none.

    Raises ``MaterialError`` for a file of links that cannot be read.
    """
    path = links_path(file)
    if not path.is_file():
        return None
    lines = [_checked(line, str(path), where) for where, line in read_json_lines(path)]
    known = {query.id for query in material.queries}
    scores: dict[str, dict[str, float]] = defaultdict(dict)  # by method, query: the lowest
    for line in lines:
        if line.get("claim") is not None and line["query"] in known:
            own = scores[line["method"]]
            own[line["query"]] = min(line["score"], own.get(line["query"], 1.0))
    low = [
        {"query": query, "method": method, "score": score}
        for method, own in scores.items()
        for query, score in own.items()
        if score < LOW
    ]
    return {
        "methods": {
            method: {
                "queries": len(scores[method]),
                "mean_score": float(np.mean(list(scores[method].values()))),
            }
            for method in METHODS
            if method in scores
        },
        "low": sorted(low, key=lambda link: link["score"]),
        "unlinked": sum(line.get("claim") is None for line in lines),
    }


def _checked(line: Any, file: str, where: str) -> dict[str, Any]:
    """Check the fields that are read of a line."""
    fits = isinstance(line, dict) and isinstance(line.get("query"), str)
    if fits and line.get("claim") is not None:
        fits = line.get("method") in METHODS and isinstance(line.get("score"), int | float)
    if not fits:
        raise MaterialError(
            "is no link as `memenvs build` writes them; build anew, or delete the file",
            record=where,
            file=file,
        )
    found: dict[str, Any] = line
    return found
