"""Tables by their columns: every format by hand, and the same cells in all of them."""

import csv
import io

import pytest

from memenvs.train.rendering import (
    Column,
    Table,
    as_latex,
    as_markdown,
    in_format,
    page,
    print_tables,
    table_as_csv,
    text_column,
)

ROWS = [
    {"policy": "fifo", "reached": 0.35, "low": 0.3, "high": 0.4, "best": False},
    {"policy": "a|b_c", "reached": None, "low": None, "high": None, "best": True},
]
TABLE = Table(
    [
        text_column("policy", "policy", "name", mark=lambda row: "*" * row["best"]),
        Column("precision", "reached", ends=("low", "high")),
        Column("double", lambda row: row["reached"] and 2 * row["reached"]),
    ],
    ROWS,
    "S = 3",
)


def test_markdown():
    assert as_markdown(TABLE).splitlines() == [
        "| policy | precision | double |",
        "| --- | --: | --: |",
        "| `fifo` | .350 [.300, .400] | .700 |",
        r"| `a\|b_c`* | – | – |",
    ]
    assert page([TABLE], ["A note."]) == f"## S = 3\n\n{as_markdown(TABLE)}\n\nA note."


def test_latex_escapes_what_it_would_obey():
    lines = as_latex(TABLE).splitlines()
    assert lines[:4] == [
        "% S = 3",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"policy & precision & double \\",
    ]
    assert lines[5:] == [
        r"\texttt{fifo} & .350 [.300, .400] & .700 \\",
        r"\texttt{a|b\_c*} & -- & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    table = Table([text_column("x", str)], ["\\", "50% & ≤ {~^}"])
    assert [line for line in as_latex(table).splitlines() if line.endswith("\\\\")][1:] == [
        r"\textbackslash{} \\",
        r"50\% \& $\le$ \{\textasciitilde{}\textasciicircum{}\} \\",
    ]


def test_csv_has_the_values_and_the_ends_of_intervals():
    first, second = csv.DictReader(io.StringIO(table_as_csv(TABLE)))
    assert first == {
        "policy": "fifo",
        "precision": "0.35",
        "precision_low": "0.3",
        "precision_high": "0.4",
        "double": "0.7",
    }
    assert second["precision"] == second["precision_low"] == ""
    assert table_as_csv(Table(TABLE.columns, [])) == "policy,precision,double"


def test_the_terminal_has_room_for_long_names(capsys):
    long = {**ROWS[0], "policy": "runs/" + 200 * "x"}
    print_tables([Table(TABLE.columns, [long], "S = 3")], ["A note."])
    shown = capsys.readouterr().out
    assert f"{long['policy']} .350 [.300 .400]" in " ".join(shown.split())
    assert "S = 3" in shown
    assert "A note." in shown


@pytest.mark.parametrize("format", ["markdown", "latex", "csv"])
def test_every_format_writes_all_tables(format):
    written = in_format([TABLE, TABLE], [], format)
    assert written.count("fifo") == 2
