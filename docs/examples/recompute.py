"""Compute the means and intervals of a comparison again, from its table of scores alone.

``python recompute.py DIR`` reads DIR/scores.csv and DIR/scores.json, which ``memenvs compare --out
DIR`` wrote, with the standard library and numpy, and prints a line of JSON for each policy and
capacity: the mean of a column, its 95% percentile bootstrap interval, and the difference to another
policy. Nothing of memenvs is imported.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np

RESAMPLES, BATCH = 5000, 1000


def main():
    """Print what a table of scores says of a column."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--column", default="precision")
    parser.add_argument("--baseline", default="random")
    options = parser.parse_args()
    about = json.loads((options.folder / "scores.json").read_text())
    with (options.folder / "scores.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["status"] == "ok"]
    seed = about["settings"]["seed"]
    for capacity in dict.fromkeys(row["capacity"] for row in rows):
        here = [row for row in rows if row["capacity"] == capacity]
        tables = {
            policy: table_of([row for row in here if row["policy"] == policy], options.column)
            for policy in dict.fromkeys(row["policy"] for row in here)
        }
        for policy, table in tables.items():
            found = {"policy": policy, "capacity": int(capacity) if capacity else None}
            found[options.column] = float(table.mean())
            found["low"], found["high"] = interval([table], seed)
            baseline = tables[options.baseline]
            if policy != options.baseline:
                found["difference"] = float(table.mean() - baseline.mean())
                ends = interval([table, baseline], seed)
                found["difference_low"], found["difference_high"] = ends
            print(json.dumps(found))


def table_of(rows, column):
    """Give the values by seed of the training and unit: ``(K, n)``.

    A unit is an instance, averaged over its episodes, or an episode where there is one instance.
    """
    instances = list(dict.fromkeys(row["instance"] for row in rows))
    unit = "episode" if len(instances) == 1 else "instance"
    units = list(dict.fromkeys(row[unit] for row in rows))
    members = sorted({int(row["member"]) for row in rows})
    values = {}
    for row in rows:
        values.setdefault((int(row["member"]), row[unit]), []).append(float(row[column]))
    return np.array([[np.mean(values[member, name]) for name in units] for member in members])


def interval(tables, seed):
    """Percentile bootstrap of a mean, or of a difference of two, units drawn for both alike.

    Of a training with several seeds, whole seeds are drawn besides.
    """
    units = tables[0].shape[1]
    drawing, own = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    found = []
    for _ in range(0, RESAMPLES, BATCH):
        drawn = drawing.integers(0, units, (BATCH, units))
        means = []
        for table in tables:
            seeds = np.zeros((BATCH, 1, 1), dtype=int)
            if len(table) > 1:
                seeds = own.integers(0, len(table), (BATCH, len(table), 1))
            means.append(table[seeds, drawn[:, None, :]].mean(axis=(-2, -1)))
        found.append(means[0] if len(means) == 1 else means[0] - means[1])
    low, high = np.percentile(np.concatenate(found), [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    main()
