"""`memenvs payoff`: every writer against every opponent, as a matrix."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.option("--policy", multiple=True, required=True, help="Who writes; repeat it.")
@click.option(
    "--opponent",
    multiple=True,
    required=True,
    help="A poisoner (wait, random, repeat, imitate, late, contradict) or an asker (honest, "
    "obscure, persistent); repeat it, of one kind.",
)
@click.option("--material", default="hidden", help="A tier or a file of materials (hidden).")
@click.option("--materials", type=click.IntRange(1), default=100, help="To play of a tier (100).")
@click.option("--split", help="Of a tier (test).")
@click.option("--capacity", type=click.IntRange(1), help="Slots (the tier's, or a quarter).")
@click.option("--poison", type=click.IntRange(1), default=6, help="False claims at most (6).")
@click.option("--seed", type=click.IntRange(0), default=0, help="Of episodes and policies (0).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def payoff(
    policy: tuple[str, ...], opponent: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Play writers against poisoners, or against exam setters, on the same episodes.

    The number is the expected precision of the memory at the end, with an interval over materials
    (and over the seeds of a training): the writer wants it high, the opponent low.
    """
    from memenvs.train import report
    from memenvs.train.games.payoff import print_payoffs, run_payoffs

    rows = run_payoffs(policy, opponent, track=report.progress, **options)
    if as_json:
        click.echo(report.as_json({"rows": rows}))
    else:
        print_payoffs(rows)
