"""The study of the memories in use today: its tables, and its page."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from memenvs.material.files import save_materials
from memenvs.materials.datasets.conversion import convert
from memenvs.policies import policy_class
from memenvs.policies.published import TODAY
from memenvs.policies.published.parameters import TABLE
from memenvs.policies.published.readers import K
from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.rendering import as_markdown as table_as_markdown
from memenvs.train.studies import memories, scenarios
from memenvs.train.studies.memories import Measured
from memenvs.train.studies.study import Findings, Record, Tell
from memenvs.train.terminal import number

INTRODUCTION = """\
# The memories people use today

The systems of the paper's Table 6 and their neighbours, as write policies without a language model;
written by `memenvs study memories --format markdown`. None was made for a fixed number of slots,
and each asks a model for something: what is faithful and what is a stand-in stands with each.
"""
COLUMNS = f"""\
*precision* is the query mass that the true part of what is stored answers, in expectation; *share*
is that over the best at this capacity; *inflation* is coverage that false claims bought; *own
reader* is the end-to-end utility of what the memory itself holds valid (without what it flushed or
invalidated), read as the system reads, {K} items a query. In brackets 95 % bootstrap intervals over
materials, or episodes where there is one material. An oracle has a *; `bayes` knows the rates of
the generator.
"""


def study(
    tell: Tell,
    *,
    locomo: str | None,
    entailment_bank: str | None,
    materials: int,
    section: Sequence[str],
    seed: int,
) -> Findings:
    """Compare the memories section by section, and on the scenarios; raises ``ValueError``."""
    given = {"locomo": locomo, "entailment-bank": entailment_bank}
    known = {each.title: each for each in memories.SECTIONS}
    for title in section:
        if title not in known:
            raise ValueError(f"no section is titled '{title}'; choose from {', '.join(known)}")
    wanted = [each for each in memories.SECTIONS if not section or each.title in section]
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for kind, file in given.items():
            if file is not None:
                files[kind] = str(Path(folder) / f"{kind}.jsonl")
                save_materials(convert(kind, file).materials, files[kind])
        for each in wanted:
            if each.data and each.data not in files:
                continue
            tell(each.title)
            data = [files[each.data]] if each.data else []
            measured.append(memories.run_section(each, files=data, materials=materials, seed=seed))
    failing = scenarios.run_scenarios(seed=seed)
    missing = [each.title for each in wanted if each.data and given[each.data] is None]
    return Findings(
        document={
            "sections": [
                {"title": one.section.title, **one.comparison.as_document()} for one in measured
            ],
            "scenarios": failing,
        },
        tables=[
            scenarios.table_of(failing),
            *(table for one in measured for table in _section(one)),
        ],
        notes=[COLUMNS],
        scores=[score for one in measured for score in one.scores],
        text=as_markdown(measured, failing, missing),
    )


def as_markdown(
    measured: Sequence[Measured], failing: Sequence[Record], left_out: Sequence[str]
) -> str:
    """Give the whole page; ``left_out`` are the data sets that were not given."""
    parts = [INTRODUCTION, "## Rules", *map(_rule, dict.fromkeys(map(_base, TODAY)))]
    parts += ["## Constants", table_as_markdown(CONSTANTS), "## Where memories fail"]
    parts += map(table_as_markdown, (scenarios.LISTED, scenarios.table_of(failing)))
    parts += ["## Compared", COLUMNS]
    for one in measured:
        parts.append(f"### {one.section.title}")
        for table in _section(one):
            parts += [f"{table.title}.", table_as_markdown(table)]
    if left_out:
        parts.append(f"Not played, as no file was given: {', '.join(left_out)}.")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _base(name: str) -> str:
    return name.partition(":")[0]


def _rule(name: str) -> str:
    built: Any = policy_class(name)
    variants = f" ({', '.join(f'`{name}:{v}`' for v in built.variants)})" if built.variants else ""
    return f"### `{name}`{variants}\n\n{inspect.getdoc(built)}"


CONSTANTS = Table(
    [
        text_column("system", lambda constant: constant.system, "name"),
        text_column("constant", lambda constant: constant.name),
        Column("value", lambda constant: constant.value, "{:g}".format),
        text_column("source", lambda constant: constant.source),
        text_column("meaning", lambda constant: constant.meaning),
    ],
    TABLE,
)


def _section(one: Measured) -> Iterator[Table]:
    """Give a table for each capacity."""

    def own(record: Record) -> Any:
        return one.readings[record["policy"], record["capacity"]]

    columns = [
        text_column(
            "policy", "policy", "name", mark=lambda record: "*" if record["privileged"] else ""
        ),
        Column("precision", "precision", ends=("low", "high")),
        Column("share", "share"),
        Column("coverage", "coverage"),
        Column("inflation", "water_inflation"),
        Column("own reader", lambda r: own(r).mean, ends=lambda r: own(r).interval),
    ]
    for capacity, members in groupby(one.comparison.summary, key=lambda s: s["capacity"]):
        records = list(members)
        first = records[0]
        bound = "" if first["frontier_proved"] else "at most "
        units = f"{first['materials']} materials"
        if first["interval_over"] == "episodes":
            units = f"{first['episodes']} episodes of one material"
        best = number(first["frontier_at_capacity"])
        title = f"S = {capacity}, {units}; the best memory reaches {bound}{best}"
        yield Table(columns, records, title)
