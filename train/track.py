"""What shows the progress of long work, or nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Job = TypeVar("Job")
Track = Callable[[Sequence[Job], str], Iterable[Job]]


def untracked(jobs: Sequence[Job], what: str) -> Iterable[Job]:
    """Run through jobs without showing progress."""
    return jobs
