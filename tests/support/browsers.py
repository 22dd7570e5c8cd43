"""What tests on real pages need: a browser, or the recording of what one showed."""

import os
import shutil
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[1] / "memenvs" / "envs" / "gui" / "pages.sqlite"
RECORDED = range(10_010_000, 10_010_009)  # instances of which the recording holds episodes

RECORDED_TASKS = (
    *("click-tab-2", "click-collapsible-2", "click-tab-2-hard", "click-menu-2"),
    *("click-tab", "click-link", "click-button", "click-option"),
)

_found = shutil.which("chromium") and shutil.which("chromedriver")
BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(not _found, reason="chromium and chromedriver are not installed"),
]


def processes(session):
    """Live processes of a session, as (number, name)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            state, _, _, of = stat.rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.append((int(entry.name), stat[stat.index("(") + 1 : stat.rindex(")")]))
    return found


def kill(session, name, signal):
    """Send a signal to the processes of a session that bear a name."""
    for number, called in processes(session):
        if called == name:
            os.kill(number, signal)
