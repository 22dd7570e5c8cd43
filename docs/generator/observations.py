"""The tables of an observation: its arrays, and the columns of each."""

from __future__ import annotations

from collections.abc import Iterable

from generator.families import Registered
from generator.markdown import table
from memenvs.envs.memorization.columns import CONTEXT_COLUMNS, QUERY_COLUMNS, Column
from memenvs.envs.memorization.memorization_env import MemorizationEnv

HUGE = 1e30  # beyond it a bound is only that of the number's type
QUERIES = {
    "one": "the one query",
    "all": "a row for each query of the material",
    "settled": "a row for each query of the last ones settled",
}


def observation(rows: list[Registered]) -> str:
    """Tabulate the arrays, and the columns of each."""
    arrays = {
        "claim": "the considered claim; zero while there is none",
        "claims": "every claim of the material",
        "memory": "a row for each slot",
        "queries": per_id(rows, [QUERIES[each.env.rules.disclosure] for each in rows]),
        "context": "where the episode stands",
        "action_mask": "1: legal; what `action_masks()` gives",
    }
    shapes = [
        [f"`{name}`", per_id(rows, [shape(each, name) for each in rows]), meaning]
        for name, meaning in arrays.items()
        if any(name in each.arrays for each in rows)
    ]
    claim, memory = (
        merged(getattr(each.env.layout, f"{kind}_columns") for each in rows)
        for kind in ("claim", "memory")
    )
    relations = {name: column for name, column in memory.items() if name not in claim}
    parts = ["A `Dict` of arrays; `env.unwrapped.layout` finds the columns by name."]
    parts += [table(("array", "shape", "holds"), shapes)]
    also = " and of `claims`" if any("claims" in each.arrays for each in rows) else ""
    parts += ["### Columns of a claim", f"Of `claim`, and first in each row of `memory`{also}."]
    parts += [columns_table(rows, "memory", claim)]
    parts += ["### Further columns of a slot", columns_table(rows, "memory", relations)]
    parts += ["### Columns of a query", columns_table(rows, "queries", QUERY_COLUMNS)]
    parts += ["### Columns of the context", columns_table(rows, "context", CONTEXT_COLUMNS)]
    return "\n\n".join(parts)


def shape(each: Registered, name: str) -> str:
    """Give the shape of an array, a dash where the environment has none."""
    return f"`{each.arrays[name].shape}`" if name in each.arrays else "–"


def merged(tables: Iterable[dict[str, Column]]) -> dict[str, Column]:
    """Join the columns of several environments."""
    joined: dict[str, Column] = {}
    for each in tables:
        joined |= each
    return joined


def columns_table(rows: list[Registered], of: str, columns: dict[str, Column]) -> str:
    """Tabulate columns: name, width, range and meaning."""
    cells = []
    for name, column in columns.items():
        widths = [width(each.env, of, name) for each in rows]
        cells.append([f"`{name}`", per_id(rows, widths), bounds(column), column.meaning])
    return table(("column", "width", "range", "meaning"), cells)


def width(env: MemorizationEnv, of: str, name: str) -> str:
    """Say how many numbers a column has; none where the environment lacks it."""
    place = getattr(env.layout, of).slices.get(name, slice(0, 0))
    return str(place.stop - place.start)


def per_id(rows: list[Registered], values: list[str]) -> str:
    """Give what holds for all ids, or for most of them with the exceptions."""
    usual = max(dict.fromkeys(values), key=values.count)
    parts = [usual]
    for other in dict.fromkeys(values):
        if other != usual:
            names = [f"`{each.name}`" for each, v in zip(rows, values, strict=True) if v == other]
            parts.append(f"{other} in {', '.join(names)}")
    return "; ".join(parts)


def bounds(column: Column) -> str:
    """Write the range of a column."""
    if column.high < HUGE:
        return f"[{round(column.low, 2):g}, {round(column.high, 2):g}]"
    return "any" if column.low < -HUGE else f"≥ {column.low:g}"
