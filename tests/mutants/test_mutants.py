"""Every fault of published figures that was made by hand is found by a test."""

import runpy
from pathlib import Path

import pytest


@pytest.mark.slow
def test_every_fault_is_found():
    survivors = runpy.run_path(str(Path(__file__).with_name("run.py")))["survivors"]
    assert survivors() == []
