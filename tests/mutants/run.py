"""Applies each fault to a copy of the sources, and runs the tests that have to find it.

``python tests/mutants/run.py [NAME ...]`` fails where a fault stays unfound, where its text no
longer stands in the sources, and where the tests fail without any.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("memenvs", "policies", "wrappers", "train", "configs", "tests", "docs")


class Mutant(NamedTuple):
    """One fault: what stands in a file, what it becomes, and the test that has to fail."""

    file: str
    old: str
    new: str
    test: str


PLAYING = "tests/train/test_playing.py"
MUTANTS = {
    "the worst rule is called the best": Mutant(
        "train/studies/headroom.py",
        "return max(reached, key=",
        "return min(reached, key=",
        f"{PLAYING}::test_the_best_rule_is_the_one_that_reaches_most",
    ),
    "the optimum is always of precision": Mutant(
        "memenvs/objective.py",
        "return cls(rules.utility, rules.reader)",
        'return cls("precision", rules.reader)',
        f"{PLAYING}::test_the_optimum_is_of_what_is_paid",
    ),
    "slots left over are dropped": Mutant(
        "train/games/copies.py",
        "slots = capacity // writers + (copy < capacity % writers)",
        "slots = capacity // writers",
        "tests/train/games/test_copies.py::test_each_copy_keeps_the_last_claims_of_its_own_stream",
    ),
    "a failed action is not doubted": Mutant(
        "train/studies/tree_play.py",
        'score *= DOUBT if fact.outcome == "failure" else 1.0',
        "score *= 1.0",
        "tests/train/studies/test_tree_tasks.py::test_what_failed_is_doubted",
    ),
    "greed is called the best": Mutant(
        "train/inspect/best.py",
        '"exact" if structure.asked.sum() <= EXACT else "greedy"',
        '"greedy"',
        "tests/train/inspect/test_inspect.py"
        "::test_the_frontier_is_the_best_and_not_what_greed_finds",
    ),
    "the loss is against the capacity": Mutant(
        "train/measures.py",
        '"efficiency_loss": row["frontier"] - row["utility"]',
        '"efficiency_loss": best - row["utility"]',
        "tests/train/test_compare.py"
        "::test_an_underfull_memory_is_held_to_the_frontier_of_its_own_size",
    ),
    "regret is against the best of any memory": Mutant(
        "train/measures.py",
        '"regret": row["settlements"] * best',
        '"regret": row["settlements"] * row["saturated"]',
        "tests/train/test_compare.py::test_regret_is_against_the_best_of_what_is_paid",
    ),
    "every policy has its own episodes": Mutant(
        "train/units.py",
        "entropy = (seed, zlib.crc32(instance.encode()), episode)",
        "entropy = (seed, zlib.crc32(b''), episode)",
        f"{PLAYING}::test_units_are_of_their_instance_and_number_alone",
    ),
}


def survivors(names: Sequence[str] = ()) -> list[str]:
    """Apply the faults of those names, or all; gives what is wrong, nothing where all are found."""
    chosen = {name: MUTANTS[name] for name in names or MUTANTS}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in FOLDERS:
            ignore = shutil.ignore_patterns("__pycache__", "_build")
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", copy)
        if not _passes(copy, [mutant.test for mutant in chosen.values()]):
            return ["the tests fail without any fault"]
        return [problem for name, each in chosen.items() if (problem := _tried(copy, name, each))]


def _tried(copy: Path, name: str, mutant: Mutant) -> str:
    file = copy / mutant.file
    text = file.read_text("utf-8")
    if text.count(mutant.old) != 1:
        return f"{name}: its text stands {text.count(mutant.old)} times in {mutant.file}, not once"
    file.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    try:
        return f"{name}: {mutant.test} does not find it" if _passes(copy, [mutant.test]) else ""
    finally:
        file.write_text(text, "utf-8")


def _passes(copy: Path, tests: Sequence[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    settings = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    found = subprocess.run(command, cwd=copy, env=settings, capture_output=True, check=False)
    if found.returncode not in (0, 1):  # neither passed nor failed: it did not run
        raise RuntimeError(found.stdout.decode() + found.stderr.decode())
    return found.returncode == 0


if __name__ == "__main__":
    wrong = survivors(sys.argv[1:])
    print("\n".join(wrong) or f"all {len(sys.argv[1:]) or len(MUTANTS)} faults are found")
    sys.exit(bool(wrong))
