"""Seconds that frontiers take: ``python tests/benchmarks/bench_frontier.py`` prints medians."""

import statistics
import sys
import time
from pathlib import Path

import numpy as np

from memenvs.optimal.curve import frontier

sys.path.append(str(Path(__file__).parents[1] / "support"))
from instances import random_material

REPEATS = 5
CASES = [  # claims, queries, share of composite ways, capacities, method, target in seconds
    (50, 100, 0.5, None, "exact", 3.0),
    (50, 100, 1.0, None, "exact", 3.0),
    (1000, 2000, 0.0, [100], "exact", 2.0),
    (1000, 2000, 0.5, [100], "exact", 8.0),
    (5000, 20000, 0.0, [100], "exact", 10.0),
    (5000, 20000, 0.0, None, "bound", None),
    (1000, 2000, 0.5, None, "greedy", None),
]


def main() -> None:
    """Time every case on several materials."""
    print("claims queries composite capacities method   median   worst  target  proved")
    for n_claims, n_queries, composite, capacities, method, target in CASES:
        seconds, proved = [], []
        for seed in range(REPEATS):
            rng = np.random.default_rng(seed)
            material = random_material(rng, n_claims, n_queries, composite=composite)
            began = time.perf_counter()
            found = frontier(material, "coverage", capacities, method)
            seconds.append(time.perf_counter() - began)
            proved.append(found.optimal.mean())
        asked = "all" if capacities is None else f"S={capacities[0]}"
        print(
            f"{n_claims:6d} {n_queries:7d} {composite:9.1f} {asked:>10} {method:6} "
            f"{statistics.median(seconds):8.2f} {max(seconds):7.2f} {target or '-':>7} "
            f"{statistics.mean(proved):7.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
