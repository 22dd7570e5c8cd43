"""What the headroom of environments looks like: Markdown for the docs, tables on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memenvs.train.statistics import Interval
from memenvs.train.studies.headroom import HAND_RULES, REFERENCES, Cell, Headroom
from memenvs.train.terminal import make_console, plain_table

HEADINGS = {
    "random": "random",
    "hand": "best rule",
    "bayes": "`bayes` (knows rates)",
    "clairvoyant": "`clairvoyant` (privileged)",
    "optimum": "optimum",
}
INTRODUCTION = """\
# Headroom

What simple and informed policies reach on every memorization environment, written by
`memenvs headroom --split {split} --materials {count} --out FILE`. Figures are means of the final
memory's expected utility under p_D (the environment's own: precision, or end-to-end), with 95 %
bootstrap intervals over {count} materials of the {split} split, or over as many episodes where the
material is fixed. At level 0 the figure is the share of queries answered.

- *random*: any legal action.
- *best rule*: of {rules} the one that does best on validation
  materials; the constants of `trust` are tuned on those, too.
- *bayes*: a Bayes filter with a one-step greedy. It knows the rates of the generator and no truth;
  it looks one step ahead, so it is a reference and no bound.
- *clairvoyant*: knows truth and p_D, and decides claim by claim without knowing later ones.
- *optimum*: the best memory of all claims; ≤ marks an upper bound where it was not proved.
"""


def as_markdown(rows: Sequence[Headroom], split: str) -> str:
    """Give the page: shares of the optimum, then means."""
    rules = ", ".join(f"`{rule}`" for rule in HAND_RULES)
    page = [INTRODUCTION.format(split=split, count=rows[0].count, rules=rules)]
    page += ["## Share of the optimum, %", "", *_table(rows, REFERENCES, share=True), ""]
    page += ["## Mean utility", "", *_table(rows, (*REFERENCES, "optimum"), share=False), ""]
    return "\n".join(page)


def print_headroom(rows: Sequence[Headroom]) -> None:
    """Print the shares of the optimum."""
    columns = ("environment", *REFERENCES, "rule", "optimum")
    cells = [
        (
            row.id,
            *(_share(row.cells[name]) for name in REFERENCES),
            row.hand,
            f"{'' if row.proved else '≤'}{_number(row.cells['optimum'].mean)}",
        )
        for row in rows
    ]
    make_console().print(plain_table(columns, cells, {"environment", "rule"}))


def _table(rows: Sequence[Headroom], names: Sequence[str], *, share: bool) -> list[str]:
    lines = [
        "| environment | over | " + " | ".join(HEADINGS[name] for name in names) + " |",
        "|---" * (len(names) + 2) + "|",
    ]
    for row in rows:
        cells = []
        for name in names:
            cell = row.cells[name]
            text = _share(cell) if share else _mean(cell)
            if name == "hand":
                text += f" `{row.hand}`"
            cells.append(text if name != "optimum" or row.proved else f"≤ {text}")
        lines.append(f"| `{row.id}` | {row.units} | " + " | ".join(cells) + " |")
    return lines


def _share(cell: Cell) -> str:
    if cell.share is None:
        return "–"
    between = _between(cell.share_interval, lambda value: f"{100 * value:.1f}")
    return f"{100 * cell.share:.1f}{between}"


def _mean(cell: Cell) -> str:
    return f"{_number(cell.mean)}{_between(cell.interval, _number)}"


def _number(value: float) -> str:
    return f"{value:.3f}"


def _between(interval: Interval | None, shown: Callable[[float], str]) -> str:
    if interval is None or interval[0] == interval[1]:
        return ""
    return f" [{shown(interval[0])} {shown(interval[1])}]"
