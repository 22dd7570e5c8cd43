"""What the tests of leaks share."""

import numpy as np


def differing(env, first, second):
    """Name the columns in which two observations differ."""
    names = set()
    for array in first:
        if array == "action_mask":
            if not np.array_equal(first[array], second[array]):
                names.add(array)
            continue
        columns = getattr(env.layout, {"claims": "claim"}.get(array, array)).slices
        for name, place in columns.items():
            if not np.array_equal(first[array][..., place], second[array][..., place]):
                names.add(name)
    return names
