"""Cost and room of a `WriteMemory` that reads a long stream.

    python tests/benchmarks/bench_long_use.py [--claims N] [--policy NAME]

Distinct texts from distinct sources; every tenth claim is followed by a settled query. At each mark
(10^3, 10^4, ...) 1,000 claims are added in turns with a second memory that has read 1,000 alone, so
that both meet the same load; CPU times, medians.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from statistics import median

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parents[1] / "harness"))

from resident import resident

from memenvs.policies import WriteMemory

CAPACITY, TIMED = 20, 1000


def read(memory: WriteMemory, number: int) -> tuple[float, float]:
    """Add a claim and, every tenth time, settle a query; gives the CPU seconds of both."""
    begun = time.process_time()
    memory.add(f"Claim {number} says that box {number % 977} is blue.", source=f"source {number}")
    added = time.process_time()
    if number % 10 == 0:
        memory.settled(f"Which colour is box {number % 977}?", number % 20 == 0)
    return added - begun, time.process_time() - added


def timed(memory: WriteMemory, number: int, fresh: str) -> tuple[list[float], list[float]]:
    """Time 1,000 claims in turns with a memory that has read 1,000; gives µs and ratios."""
    short = WriteMemory(fresh, CAPACITY)
    for early in range(TIMED):
        read(short, early)
    both = [(read(memory, number + k), read(short, TIMED + k)) for k in range(TIMED)]
    costs, ratios = [], []
    for part, every in ((0, 1), (1, 10)):
        long = median(1e6 * pair[0][part] for pair in both[::every])
        costs.append(long)
        ratios.append(long / median(1e6 * pair[1][part] for pair in both[::every]))
    return costs, ratios


def main() -> None:
    """Print a row for each mark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=1_000_000)
    parser.add_argument("--policy", default="trust")
    options = parser.parse_args()
    memory, number, mark = WriteMemory(options.policy, CAPACITY), 0, TIMED
    print("claims read, add µs, settled µs, times of a memory of 1,000 claims, resident MB")
    while mark <= options.claims:
        while number < mark:
            read(memory, number)
            number += 1
        costs, ratios = timed(memory, number, options.policy)
        number += TIMED
        print(
            f"{mark:10,} {costs[0]:8.0f} {costs[1]:8.0f} {ratios[0]:7.3f} {ratios[1]:7.3f} "
            f"{resident():7.0f}",
            flush=True,
        )
        mark *= 10


if __name__ == "__main__":
    main()
