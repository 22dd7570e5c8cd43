"""The page on the memories in use today, as Markdown."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Any

from memenvs.materials.scenarios import SCENARIOS
from memenvs.policies import policy_class
from memenvs.policies.published import TODAY
from memenvs.policies.published.parameters import TABLE
from memenvs.policies.published.readers import K
from memenvs.train.compare import Record
from memenvs.train.studies.memories import Measured
from memenvs.train.studies.scenarios import verdict

INTRODUCTION = """\
# The memories people use today

The systems of the paper's Table 6 and their neighbours, as write policies without a language model;
written by `memenvs memories --out FILE`. None was made for a fixed number of slots, and each asks a
model for something: what is faithful and what is a stand-in stands with each.
"""
COLUMNS = f"""\
*precision* is the query mass that the true part of what is stored answers, in expectation; *share*
is that over the best at this capacity; *inflation* is coverage that false claims bought; *own
reader* is the end-to-end utility of what the memory itself holds valid (without what it flushed or
invalidated), read as the system reads, {K} items a query. In brackets 95 % bootstrap intervals over
materials, or episodes where there is one material. An oracle has a *; `bayes` knows the rates of
the generator.
"""


def as_markdown(
    measured: Sequence[Measured], scenarios: Sequence[Record], left_out: Sequence[str]
) -> str:
    """Give the whole page; ``left_out`` are the data sets that were not given."""
    parts = [INTRODUCTION, "## Rules", *map(_rule, dict.fromkeys(map(_base, TODAY)))]
    parts += ["## Constants", _constants(), "## Where memories fail", _scenarios(scenarios)]
    parts += ["## Compared", COLUMNS]
    for one in measured:
        parts += [f"### {one.section.title}", *_section(one)]
    if left_out:
        parts.append(f"Not played, as no file was given: {', '.join(left_out)}.")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _base(name: str) -> str:
    return name.partition(":")[0]


def _rule(name: str) -> str:
    built: Any = policy_class(name)
    variants = f" ({', '.join(f'`{name}:{v}`' for v in built.variants)})" if built.variants else ""
    return f"### `{name}`{variants}\n\n{inspect.getdoc(built)}"


def _constants() -> str:
    rows = [(f"`{c.system}`", c.name, f"{c.value:g}", c.source, c.meaning) for c in TABLE]
    return _table(("system", "constant", "value", "source", "meaning"), rows, numbers={2})


def _scenarios(rows: Sequence[Record]) -> str:
    told = [
        (str(n), f"`scenario-{s.name}`", str(s.capacity), s.failure, s.good)
        for n, s in enumerate(SCENARIOS, 1)
    ]
    listed = _table(("", "material", "S", "what goes wrong", "a good memory"), told, numbers={0, 2})
    found = {(row["policy"], row["scenario"]): verdict(row["kept"]) for row in rows}
    names = list(dict.fromkeys(row["policy"] for row in rows))
    cells = [(f"`{name}`", *(found[name, s.name] for s in SCENARIOS)) for name in names]
    heads = ("policy", *(str(n) for n in range(1, len(SCENARIOS) + 1)))
    return f"{listed}\n\n{_table(heads, cells)}"


def _section(one: Measured) -> Iterable[str]:
    for capacity, members in groupby(one.comparison.summary, key=lambda s: s["capacity"]):
        records = list(members)
        first = records[0]
        bound = "" if first["frontier_proved"] else "at most "
        units = f"{first['materials']} materials"
        if first["interval_over"] == "episodes":
            units = f"{first['episodes']} episodes of one material"
        best = first["frontier_at_capacity"]
        yield f"S = {capacity}, {units}; the best memory reaches {bound}{_number(best)}."
        heads = ("policy", "precision", "share", "coverage", "inflation", "own reader")
        cells = [_cells(record, one) for record in records]
        yield _table(heads, cells, numbers={1, 2, 3, 4, 5})


def _cells(record: Record, one: Measured) -> tuple[str, ...]:
    read = one.readings[record["policy"], record["capacity"]]
    return (
        f"`{record['policy']}`{'*' if record['privileged'] else ''}",
        f"{_number(record['precision'])} {_interval((record['low'], record['high']))}",
        _number(record["share"]),
        _number(record["coverage"]),
        _number(record["water_inflation"]),
        f"{_number(read.mean)} {_interval(read.interval)}",
    )


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()
) -> str:
    """Lay out a table; the columns of these places hold numbers."""
    rule = ["--:" if place in numbers else "---" for place in range(len(heads))]
    lines = [heads, rule, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.3f}".removeprefix("0")


def _interval(interval: Any) -> str:
    if interval is None or None in interval:
        return ""
    return f"[{_number(interval[0])}, {_number(interval[1])}]"
