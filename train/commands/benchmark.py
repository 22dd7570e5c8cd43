"""`memenvs benchmark`: policies by a frozen protocol, so that two people's numbers compare."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memenvs.train.commands.compare import FAILED

if TYPE_CHECKING:
    from memenvs.train.compare import Comparison


@click.command()
@click.option("--protocol", default="v1", metavar="NAME", help="Of the frozen protocols (v1).")
@click.option(
    "--policy",
    metavar="NAME_OR_MODEL",
    multiple=True,
    required=True,
    help="A name, a model, or your own: MODULE:NAME or FILE.py:NAME; repeat it.",
)
@click.option("--locomo", metavar="FILE", help="LoCoMo as published; without it, it is left out.")
@click.option("--entailment-bank", metavar="FILE", help="EntailmentBank as published; likewise.")
@click.option("--part", multiple=True, help="Only these parts of the protocol; repeat it.")
@click.option("--out", metavar="FILE", help="Write the results there, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object.")
def benchmark(
    protocol: str,
    policy: tuple[str, ...],
    locomo: str | None,
    entailment_bank: str | None,
    part: tuple[str, ...],
    out: str | None,
    as_json: bool,
) -> int:
    """Play policies by a frozen protocol.

    Splits, seeds, capacities, episodes and measures are the protocol's. The results hold versions
    and a digest of the materials, and say what was left out. They are written after each part. An
    episode in which a policy fails is reported, means are over the others, and the exit code is 1.
    """
    from memenvs.storage.whole import write_whole
    from memenvs.train import tables, terminal
    from memenvs.train.benchmark.protocol import PROTOCOLS
    from memenvs.train.benchmark.run import run_benchmark, silent

    if protocol not in PROTOCOLS:
        raise ValueError(f"no protocol is named '{protocol}'; choose from {', '.join(PROTOCOLS)}")
    target = None if out is None else Path(out)
    if target is not None and not target.absolute().parent.is_dir():
        raise ValueError(f"{target}: there is no folder '{target.parent}'; make it first")

    def save(document: dict[str, Any]) -> None:
        if target is not None:
            write_whole(target, (terminal.as_json(document) + "\n").encode())

    given = {"locomo": locomo, "entailment-bank": entailment_bank}
    document = run_benchmark(
        PROTOCOLS[protocol],
        list(dict.fromkeys(policy)),
        files={kind: file for kind, file in given.items() if file is not None},
        parts=part,
        report=silent if as_json else _show,
        save=save,
    )
    if as_json:
        click.echo(terminal.as_json(document))
    else:
        tables.print_curves(document["curves"])
        for name, reason in document["left_out"].items():
            click.echo(f"left out: {name} ({reason})", err=True)
        for each in document["refused"]:
            click.echo("left out of {part}: {policy} ({reason})".format(**each), err=True)
    for name, rows in groupby(document["failed"], key=lambda row: row["part"]):
        for line in tables.failures(rows):
            click.echo(f"memenvs: {name}: {line}", err=True)
    return FAILED if document["failed"] else 0


def _show(part: str, found: Comparison) -> None:
    from memenvs.train import tables

    click.echo(f"\n== {part}")
    tables.print_comparison(found)
