"""Time a selection with its update, appends, saving and opening of a tree of 10,000 nodes.

Run it as ``python tests/benchmarks/bench_weighted_tree.py [NODES]``; it prints medians.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memenvs.policies.weighted_tree import WeightedTree

ACTIONS = 9  # under each task
BUDGET = 500


def grown(tree: WeightedTree, size: int, rng: np.random.Generator) -> WeightedTree:
    """Grow a tree of words drawn from a Zipf law, a tenth of its actions failed."""
    tree.begin_task(phrase(rng))
    while len(tree.nodes) < size:
        tree.return_to(0)
        tree.begin_task(phrase(rng))
        for _ in range(ACTIONS):
            tree.record_action(phrase(rng), "failure" if rng.random() < 0.1 else "success")
    return tree


def phrase(rng: np.random.Generator, length: int = 12) -> str:
    """Draw a text."""
    return " ".join(f"w{n}" for n in np.minimum(rng.zipf(1.3, length), 5000))


def report(what: str, call: Callable[[], object], times: int) -> None:
    """Print the median time of a call, by the clock and of this process alone."""
    wall, own = [], []
    for _ in range(times):
        begun = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - begun[0])
        own.append(time.process_time() - begun[1])
    print(f"{what:36}{1000 * np.median(wall):9.2f} ms, of the CPU {1000 * np.median(own):9.2f} ms")


def main(size: int) -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    tree = grown(WeightedTree("full"), size, rng)
    queries = iter([phrase(rng, 6) for _ in range(1000)])
    print(f"{len(tree.nodes):,} nodes, {len(tree.candidates()):,} candidates")
    report("selection and update", lambda: tree.context(next(queries), BUDGET), 15)
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "tree.jsonl", Path(folder) / "log.jsonl"
        report("saving", lambda: tree.save(path), 3)
        report("opening what was saved", lambda: WeightedTree.open(path).close(), 3)
        opened = WeightedTree.open(path)
        report("appending, with fsync", lambda: opened.record_action("a word"), 50)
        opened.close()
        written = grown(WeightedTree.open(log), size, rng)
        written.close()
        report("opening an event for each node", lambda: WeightedTree.open(log).close(), 3)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
