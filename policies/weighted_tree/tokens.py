"""The tokenizer by which prompts are counted: a word or a mark is a token."""

from __future__ import annotations

import re

TOKEN = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Count the runs of letters, digits and underscores, and the other marks, one each.

    No model's own tokenizer: it needs no files, is the same everywhere, and counts of two texts
    joined by a line break add up exactly.
    """
    return len(TOKEN.findall(text))
