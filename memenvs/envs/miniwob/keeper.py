"""Keeps a chromedriver, and ends it with all of its browsers when this program's input ends.

``python keeper.py CHROMEDRIVER PROFILE`` runs in a session of its own. Its input is a pipe from the
process that uses the browser: however that process ends, killed or not, the pipe closes, and
nothing is left behind; a byte does the same. It imports the standard library alone, so that it
starts at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 5.0  # seconds until what was killed must be gone


def members(session: int) -> list[int]:
    """List the processes of a session, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                stat = (entry / "stat").read_text()
            except OSError:  # it has ended meanwhile
                continue
            state, _, _, of = stat.rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.append(int(entry.name))
    return found


def end_session(session: int) -> None:
    """Kill the processes of a session, but for this one, until there are none."""
    end = time.monotonic() + PATIENCE
    while (left := members(session)) and time.monotonic() < end:
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)


def main(driver: str, profile: str) -> None:
    """Run chromedriver until the input says something, or closes."""
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)  # the input alone says when to end
    child = subprocess.Popen([driver, "--port=0"], stdin=subprocess.DEVNULL)
    sys.stdin.buffer.read(1)
    end_session(os.getsid(0))
    child.wait()
    shutil.rmtree(profile, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
