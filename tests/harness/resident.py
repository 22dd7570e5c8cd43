"""Resident memory of this process, as the system counts it (Linux)."""

from __future__ import annotations

import os
from pathlib import Path


def resident() -> float:
    """Give the resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
