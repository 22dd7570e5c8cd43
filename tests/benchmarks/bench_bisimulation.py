"""Speed of the bisimulation memory's decision at 150 and 2,000 states.

    python tests/benchmarks/bench_bisimulation.py [--rule NAME ...] [--states N ...] [--rebuild]

Streams imitate what a graphical interface records: every page is new, episodes have at most eight
steps over a few tabs, and one tab in three holds the goal. ``random`` is a hard case: walks over
random labelled pages, where hardly any two states are alike. A decision is asked after every
recorded step; wall times of one thread, over the last 200. The targets are medians of 1 ms at 150
states and 20 ms at 2,000. ``--rebuild`` times a fresh partition of the whole graph beside it.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np

from memenvs.policies.bisimulation import PAPER, RULES, TransitionMemory, find_rule
from memenvs.policies.bisimulation.partitions import make_partition

TARGETS = {150: 1.0, 2000: 20.0}
TABS, STEPS, LAST = 3, 8, 200
LINK = 9
LABELS, ACTIONS = 4, 3  # of the random pages


def interface(memory: TransitionMemory, states: int, times: list[float]) -> None:
    """Act on tabs by the memory's own choice, with detours, until so many pages are known."""
    rng = np.random.default_rng(0)
    page = 0
    while len(memory.pages()) < states:
        page, tab, goal = page + 1, 0, int(rng.integers(TABS))
        memory.begin(page, 0)
        for step in range(STEPS):
            choice = decide(memory, page, list(range(TABS)), times)
            if tab == goal and rng.random() < 0.5:
                memory.record(page, LINK, 0, 0, 1.0, True)
                break
            tab = choice if rng.random() > PAPER.detour else int(rng.integers(TABS))
            label = int(tab == goal)
            memory.record(page, tab, page + 1, label, 0.0, step == STEPS - 1)
            page += 1


def random(memory: TransitionMemory, states: int, times: list[float]) -> None:
    """Walk over random pages, a third of them met before."""
    rng = np.random.default_rng(0)
    label: list[int] = []

    def meet() -> int:
        if label and rng.random() < 1 / 3:
            return int(rng.integers(len(label)))
        label.append(int(rng.integers(LABELS)))
        return len(label) - 1

    while len(memory.pages()) < states:
        page = meet()
        memory.begin(page, label[page])
        for step in range(STEPS):
            decide(memory, page, list(range(ACTIONS)), times)
            over, target = rng.random() < 0.1 or step == STEPS - 1, meet()
            reward = float(rng.choice([-1.0, 1.0]))
            memory.record(page, int(rng.integers(ACTIONS)), target, label[target], reward, over)
            if over:
                break
            page = target


def decide(memory: TransitionMemory, page: int, shortlist: list[int], times: list[float]) -> int:
    """Take one decision and note how long it took."""
    begun = time.perf_counter()
    choice = memory.rerank(page, shortlist)
    times.append(1e3 * (time.perf_counter() - begun))
    return choice


def rebuilt(memory: TransitionMemory) -> float:
    """Milliseconds of the partition of the whole graph."""
    partition = make_partition(find_rule(memory.rule), PAPER, memory.elements)
    nodes = [node for node in range(memory.graph.nodes) if memory.graph.out[node]]
    begun = time.perf_counter()
    partition.update(memory.graph, nodes)
    return 1e3 * (time.perf_counter() - begun)


def main() -> None:
    """Print a line for each rule, stream and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", action="append", choices=RULES)
    parser.add_argument("--states", action="append", type=int)
    parser.add_argument("--rebuild", action="store_true")
    options = parser.parse_args()
    print(f"{'':26s}{'stream':12s}{'states':>7s}{'median':>9s}{'95 %':>9s}{'most':>9s}  ms")
    for rule in options.rule or ["action-conditioned", "guarded", "as-written", "identity"]:
        for stream in (interface, random):
            for states in options.states or TARGETS:
                memory, times = TransitionMemory(rule), []
                stream(memory, states, times)
                last = np.array(times[-LAST:])
                median, high = np.percentile(last, [50, 95])
                late = median > TARGETS.get(states, np.inf)
                line = f"{rule:26s}{stream.__name__:12s}{states:7d}{median:9.3f}{high:9.3f}"
                line += f"{last.max():9.3f}" + (" !" if late else "")
                if options.rebuild:
                    line += f"  rebuilt in {rebuilt(memory):.1f}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
