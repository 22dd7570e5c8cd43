"""When a mean over draws agrees with what it should be."""

import numpy as np


def near(values, expected):
    """Within five standard errors: wrong once in 1.7 million."""
    values = np.asarray(values, dtype=float)
    error = max(values.std(ddof=1) / np.sqrt(len(values)), 1e-9)
    return abs(values.mean() - expected) <= 5 * error
