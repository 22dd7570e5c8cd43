"""What was recorded, as it stands in a prompt: one line, in which nothing can pass for ours."""

from __future__ import annotations

import re

from memenvs.storage.messages import visible

LABELS = ("Query", "Task", "Memory", "Summary", "Known")  # of a line, by kind of node
WARNING = "Warning"  # of the line of a failed action
PARTS = ("Objective", "Result", "Evidence", "Unresolved", "Failed")  # of a summary
BREAKS = {ord(mark): " / " for mark in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"}


def _markers(names: tuple[str, ...]) -> re.Pattern[str]:
    """Match one of these words before a colon, in any case and in any script's forms of it."""
    return re.compile(rf"(?<!\w)({'|'.join(names)})(?=\s*[:\uff1a\ufe55\ua789])", re.IGNORECASE)


LINE = _markers((*LABELS, WARNING))
SUMMARY = _markers(PARTS)
BAR = re.compile(r'(?<!")\|(?!")')


def quoted(text: str) -> str:
    """Give a text on one line, a label of ours before a colon in quotation marks."""
    return LINE.sub(r'"\1"', visible(text.translate(BREAKS)))


def quoted_part(text: str) -> str:
    """Give a text as a part of a summary: the marks between its parts are quoted, too."""
    return BAR.sub('"|"', SUMMARY.sub(r'"\1"', text))
