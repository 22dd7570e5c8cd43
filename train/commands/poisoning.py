"""`memenvs poisoning`: memories whose history misleads them."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option("--policy", multiple=True, metavar="NAME_OR_MODEL", help="Repeat it.")
@click.option("--split", default="test", help="test (default), validation or train.")
@click.option("--seeds", type=click.IntRange(1), default=10, help="Of the reasoner (10).")
@click.option(
    "--budget", type=click.IntRange(1), default=120, help="Tokens of memories a prompt (120)."
)
@click.option("--out", metavar="DIR", help="Write tables and a plot there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def poisoning(
    policy: tuple[str, ...], split: str, seeds: int, budget: int, out: str | None, as_json: bool
) -> None:
    """Compare memories on 100 scenarios whose history is poisoned.

    A policy is a configuration of the weighted tree (no-memory, linear, tree, a1, a2, a3, full and
    its other components), a choice of entries (recent, relevant, logistic, the oracle oracle), or
    the folder of a run of `memenvs train poisoning`. A simulated reasoner answers; no language
    model is asked. Differences are paired with full, where it is among them.
    """
    from memenvs.train import terminal
    from memenvs.train.studies.poisoning.comparison import BASELINE, DEFAULT_POLICIES, run_poisoning
    from memenvs.train.studies.poisoning.report import (
        LEGEND,
        SHOWN,
        cells,
        gaps,
        verdicts,
        write_results,
    )

    policies = list(dict.fromkeys(policy)) or list(DEFAULT_POLICIES)
    result = run_poisoning(
        policies,
        split=split,
        seeds=seeds,
        budget=budget,
        report=lambda name: click.echo(name, err=True),
    )
    if out is not None:
        write_results(result, Path(out))
    if as_json:
        click.echo(terminal.as_json(result.as_document()))
        return
    console = terminal.make_console()
    console.print(terminal.plain_table(["policy", *SHOWN.values()], cells(result), {"policy"}))
    console.print(LEGEND, style="dim")
    for each in gaps(result):
        console.print(f"\n{each[0]} less {BASELINE}", style="bold")
        console.print(
            terminal.plain_table(
                ["metric", "difference"], zip(SHOWN, each[1:], strict=False), {"metric"}
            )
        )
    if rows := verdicts(result):
        console.print("\nThe paper's orderings", style="bold")
        columns = ["metric", "ordering", "difference", "here"]
        console.print(terminal.plain_table(columns, rows, {"metric", "ordering", "here"}))
