"""Links from questions to claims, each with how it was found and how sure it is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from memenvs.storage.whole import write_whole

Method: TypeAlias = Literal["evidence", "quote", "answer", "similarity", "judge"]
METHODS: tuple[Method, ...] = ("evidence", "quote", "answer", "similarity", "judge")  # the order
SUFFIX = ".links.jsonl"
ALTERNATIVES = 20  # supports that say the same and are taken; more say nothing new


@dataclass(frozen=True)
class Found:
    """A set of claims that together answer a question."""

    claims: tuple[int, ...]  # places in the material
    method: Method
    score: float  # how likely it is right, in [0, 1]


@dataclass(frozen=True)
class Linked:
    """What came of one question: alternatives of equal standing, or none and why."""

    question: str
    text: str
    found: tuple[Found, ...]
    reason: str = ""  # why it is not linked, or not by the evidence given
    nearest: Found | None = None  # the best that was not good enough

    @property
    def method(self) -> Method | None:
        """How it was linked."""
        return self.found[0].method if self.found else None


def links_path(material: str | os.PathLike[str]) -> Path:
    """Name the file of links beside a material file."""
    return Path(f"{os.fspath(material)}{SUFFIX}")


def save_links(linked: Iterable[Linked], claims: Sequence[str], path: Path) -> None:
    """Write a line for each claim of each support, and for each question without one.

    The strict format of materials has no room for this; a line names the query, the place of the
    support in its item, the claim, the method and the score.
    """
    lines: list[dict[str, Any]] = []
    for entry in linked:
        shared = {"query": entry.question, "question": entry.text}
        for place, found in enumerate(entry.found):
            lines += [
                {**shared, "support": place, "claim": claims[claim], **_how(found)}
                for claim in found.claims
            ]
        if not entry.found:
            near = entry.nearest
            nearest = [claims[claim] for claim in near.claims] if near else []
            lines.append(
                {
                    **shared,
                    "support": None,
                    "reason": entry.reason,
                    "nearest": nearest,
                    **(_how(near) if near else {}),
                }
            )
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_whole(path, text.encode())


def _how(found: Found) -> dict[str, str | float]:
    return {"method": found.method, "score": round(found.score, 4)}
