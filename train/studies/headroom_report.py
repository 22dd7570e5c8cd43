"""The study of headroom: its tables, and its page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.rendering import as_markdown as table_as_markdown
from memenvs.train.studies.headroom import HAND_RULES, REFERENCES, Headroom, find_rows, headroom
from memenvs.train.studies.study import Findings, Tell

HEADINGS = {
    "random": "random",
    "hand": "best rule",
    "bayes": "bayes (knows rates)",
    "bayes-queries": "bayes-queries (knows rates)",
    "clairvoyant": "clairvoyant (privileged)",
    "optimum": "optimum",
}
INTRODUCTION = """\
# Headroom

What simple and informed policies reach on every memorization environment, written by
`memenvs study headroom --split {split} --materials {count} --format markdown`. Figures are means of
the final memory's expected utility under p_D (the environment's own: precision, or end-to-end),
with 95 % bootstrap intervals over {count} materials of the {split} split, or over as many episodes
where the material is fixed. At level 0 the figure is the share of queries answered.

- *random*: any legal action.
- *best rule*: of {rules} the one that does best on validation
  materials, named under *rule*; the constants of `trust` are tuned on those, too.
- *bayes*: a Bayes filter with a one-step greedy. It knows the rates of the generator and no truth;
  it looks one step ahead, so it is a reference and no bound.
- *bayes-queries*: the same with values by query, and in `probe` (32 claims) a price on information.
- *clairvoyant*: knows truth and p_D, and decides claim by claim without knowing later ones.
- *optimum*: the best memory of all claims; ≤ marks an upper bound where it was not proved.
"""


def study(
    tell: Tell,
    *,
    ids: Sequence[str],
    split: str,
    materials: int,
    time_limit: float,
    seed: int,
    jobs: int,
) -> Findings:
    """Measure environments, and lay out what was measured."""
    rows = headroom(
        find_rows(ids),
        split=split,
        count=materials,
        time_limit=time_limit,
        seed=seed,
        jobs=jobs,
        done=lambda row: tell(f"{row.id} is done"),
    )
    return Findings(
        document={"split": split, "rows": [row.as_document() for row in rows]},
        tables=tables(rows),
        notes=["Shares are in percent; ≤ marks an optimum that was not proved: an upper bound."],
        scores=[score for row in rows for score in row.scores],
        text=as_markdown(rows, split),
    )


def as_markdown(rows: Sequence[Headroom], split: str) -> str:
    """Give the page: shares of the optimum, then means."""
    rules = ", ".join(f"`{rule}`" for rule in HAND_RULES)
    page = [INTRODUCTION.format(split=split, count=rows[0].count, rules=rules)]
    for table in tables(rows):
        page += [f"## {table.title}", "", table_as_markdown(table), ""]
    return "\n".join(page)


def tables(rows: Sequence[Headroom]) -> list[Table]:
    """Give the shares of the optimum, and the means."""
    first = [text_column("environment", lambda row: row.id, "name")]
    first.append(text_column("over", lambda row: row.units))
    rule = text_column("rule", lambda row: row.hand, "name")
    shares = [_column(name, "share", "share_interval", _percent) for name in REFERENCES]
    means = [_column(name, "mean", "interval", "{:.3f}".format) for name in REFERENCES]
    best = Column(
        "optimum",
        lambda row: row.cells["optimum"].mean,
        "{:.3f}".format,
        ends=lambda row: _proper(row.cells["optimum"].interval),
        mark=lambda row: "" if row.proved else "≤",
    )
    return [
        Table([*first, *shares, rule], rows, "Share of the optimum, %"),
        Table([*first, *means, rule, best], rows, "Mean utility"),
    ]


def _column(reference: str, value: str, interval: str, show: Any) -> Column:
    def read(name: str, row: Headroom) -> Any:
        return getattr(row.cells[reference], name)

    return Column(
        HEADINGS[reference],
        partial(read, value),
        show,
        ends=lambda row: _proper(read(interval, row)),
    )


def _proper(interval: Any) -> Any:
    """Leave out an interval that is a point."""
    return None if interval is None or interval[0] == interval[1] else interval


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
