"""`memenvs headroom`: what rules, beliefs and oracles reach on every environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("ids", metavar="[ID ...]", nargs=-1)
@click.option(
    "--split",
    type=click.Choice(["test", "validation"]),
    default="test",
    show_default=True,
    help="Materials of generated tiers.",
)
@click.option(
    "--materials",
    type=click.IntRange(2),
    default=200,
    show_default=True,
    help="Materials, or episodes of a single one.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0),
    default=20.0,
    show_default=True,
    help="Seconds for a material's frontier.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--out", metavar="FILE", help="Write the tables there, as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def headroom(
    ids: tuple[str, ...],
    split: str,
    materials: int,
    time_limit: float,
    jobs: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Measure the headroom of environments: all memorization ids, or those given."""
    from memenvs.material.files import write_whole
    from memenvs.train import terminal
    from memenvs.train.studies.headroom import find_rows
    from memenvs.train.studies.headroom import headroom as run
    from memenvs.train.studies.headroom_report import as_markdown, print_headroom

    def done(row: Any) -> None:
        click.echo(f"{row.id} is done", err=True)

    rows = find_rows(ids)
    if out is not None:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
    found = run(rows, split=split, count=materials, time_limit=time_limit, jobs=jobs, done=done)
    if out is not None:
        write_whole(Path(out), as_markdown(found, split).encode())
    if as_json:
        document = {"split": split, "rows": [row.as_document() for row in found]}
        click.echo(terminal.as_json(document))
    elif out is None:
        print_headroom(found)
