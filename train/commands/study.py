"""`memenvs study`: the studies behind the pages of results, and their older names."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memenvs.train.studies.catalog import STUDIES, Study

if TYPE_CHECKING:
    from memenvs.train.studies.study import Findings

JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object.")
FORMAT = click.Option(
    ["--format"],
    type=click.Choice(["markdown", "latex", "csv"]),
    help="Print the tables so, and not for a terminal.",
)
OUT = "Write the result, its page and plots there, and scores.csv: a row for each unit and policy."


def study_command(study: Study) -> click.Command:
    """Give `memenvs study NAME`."""
    out = click.Option(["--out"], metavar="DIR", help=OUT)
    return click.Command(
        study.name,
        params=[*study.options, out, FORMAT, JSON],
        callback=partial(_study, study),
        help=f"{study.purpose}\n\n{study.about}",
        short_help=study.purpose,
    )


def older_command(study: Study) -> click.Command:
    """Give `memenvs NAME`, which writes the files that it used to."""
    metavar, what = ("FILE", "the page") if study.page else ("DIR", "the result and plots")
    out = click.Option(["--out"], metavar=metavar, help=f"Write {what} there.")
    return click.Command(
        study.name,
        params=[*study.options, out, JSON],
        callback=partial(_older, study),
        help=f"{study.purpose}\n\nThe name until the next version of `memenvs study {study.name}`.",
        short_help=f"The same as `memenvs study {study.name}`.",
    )


def _study(
    study: Study, out: str | None, format: str | None, as_json: bool, **options: Any
) -> None:
    from memenvs.train.studies.study import write_findings, write_scores

    if out is not None:  # seen to before anything is played
        Path(out).mkdir(parents=True, exist_ok=True)
    findings = _find(study, options)
    if out is not None:
        write_scores(findings, {"study": study.name, **options}, Path(out))
        write_findings(findings, study.name, Path(out))
    _print(findings, format, as_json=as_json)


def _older(study: Study, out: str | None, as_json: bool, **options: Any) -> None:
    from memenvs.storage.whole import write_whole
    from memenvs.train.studies.study import write_findings

    if out is not None:
        (Path(out).parent if study.page else Path(out)).mkdir(parents=True, exist_ok=True)
    findings = _find(study, options)
    if out is not None and study.page:
        write_whole(Path(out), findings.page.encode())
    elif out is not None:
        write_findings(findings, study.name, Path(out))
    _print(findings, None, as_json=as_json)


def _find(study: Study, options: dict[str, Any]) -> Findings:
    found: Findings = import_module(study.module).study(
        lambda line: click.echo(line, err=True), **options
    )
    return found


def _print(findings: Findings, format: str | None, *, as_json: bool) -> None:
    from memenvs.train import rendering, terminal

    if as_json:
        click.echo(terminal.as_json(findings.document))
    elif format == "markdown":  # a page may say more than its tables
        click.echo(findings.page, nl=False)
    else:
        rendering.print_tables(findings.tables, findings.notes, format)


@click.group(
    commands={each.name: study_command(each) for each in STUDIES},
    invoke_without_command=True,
    no_args_is_help=False,
)
@click.pass_context
def study(context: click.Context) -> None:
    """Play a study: the measurements behind the documentation's pages of results."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


OLDER = [older_command(each) for each in STUDIES if each.alias]
