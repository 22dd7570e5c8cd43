"""Words, docstrings and tables for the generated pages."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

WORDS = Path(__file__).parents[1] / "words.yaml"


@cache
def words() -> Any:
    """Read docs/words.yaml."""
    return yaml.safe_load(WORDS.read_text("utf-8"))


def docstring(found: object) -> tuple[str, dict[str, str], str]:
    """Take a docstring apart: the first paragraph, the arguments by name, and the rest."""
    text = inspect.cleandoc(found.__doc__ or "").replace("``", "`")
    summary, _, rest = text.partition("\n\n")
    before, _, after = rest.partition("Args:\n")
    parameters: dict[str, str] = {}
    kept: list[str] = []
    name = ""
    for line in after.splitlines():
        if not line.startswith("    "):
            kept.append(line)
        elif line.startswith("     "):  # goes on
            parameters[name] += f" {line.strip()}"
        else:
            name, _, parameters[name] = line.strip().partition(": ")
    rest = "\n\n".join(part for part in (before.strip(), "\n".join(kept).strip()) if part)
    return " ".join(summary.split()), parameters, rest


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
