"""`memenvs inspect NAME_OR_FILE`: what a material holds, how hard it is, what is likely wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memenvs.reading.answers import Utility


@click.command()
@click.argument("name_or_file")
@click.option("--html", metavar="FILE", help="Write a page with plots there.")
@click.option("--split", help="Of a tier's materials (test).")
@click.option(
    "--materials",
    "count",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Of many, the first so many are inspected.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    help="Seconds for a frontier.",
)
@click.option(
    "--utility",
    type=click.Choice(["coverage", "precision", "end-to-end"]),
    default="precision",
    show_default=True,
    help="What a settled query pays.",
)
@click.option("--reader", help="Of a memory that is read in part: similarity:K, bm25:K, tokens:N.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def inspect(
    name_or_file: str,
    html: str | None,
    split: str | None,
    count: int,
    time_limit: float,
    utility: Utility,
    reader: str | None,
    as_json: bool,
) -> None:
    """Say what a material holds, how hard it is, and what is likely wrong with it.

    Size, levels, structure, duplicates, how the query mass is spread, the frontier with the zone in
    which something must be given up, what rules of thumb reach with a quarter of the claims, and
    likely faults. What `memenvs build` wrote beside the file is read, too.
    """
    from memenvs.materials.library import find_materials, source_of
    from memenvs.objective import Objective
    from memenvs.reading.answers import ALL
    from memenvs.storage.whole import write_whole
    from memenvs.train import terminal
    from memenvs.train.inspect.inspection import inspect as look

    source = source_of(name_or_file)
    file = source if isinstance(source, Path) else None
    if html is not None and file is not None and Path(html).resolve() == file.resolve():
        raise click.UsageError(f"--html {html} is what is inspected; name another file")
    objective = Objective(utility, reader or ALL)
    materials = find_materials(name_or_file, split)
    chosen = materials[:count]
    if len(materials) > count:
        click.echo(f"the first {count} of {len(materials)} materials are inspected", err=True)
    several = len(materials) > 1
    found = [
        look(each, many=several, file=file, objective=objective, time_limit=time_limit)
        for each in chosen
    ]
    if html is not None:
        from memenvs.train.inspect.page import page

        Path(html).parent.mkdir(parents=True, exist_ok=True)
        write_whole(Path(html), page(found, len(materials)).encode("utf-8", "backslashreplace"))
    if as_json:
        click.echo(terminal.as_json(found if several else found[0]))
    elif html is None:
        _print(found)


def _print(found: list[dict[str, Any]]) -> None:
    from memenvs.train import terminal
    from memenvs.train.inspect.inspection import summary_lines

    console = terminal.make_console()
    for each in found:
        console.print(f"\n{each['material']}")
        for name, text in summary_lines(each):
            console.print(f"  {name:<14} {text}", soft_wrap=True)
        play = each["heuristics"]
        if play is not None:
            reached = {**play["utility"], "optimum": play["optimum"]}
            figures = ", ".join(f"{rule} {value:.2f}" for rule, value in reached.items())
            console.print(f"  {'at S = ' + str(play['capacity']):<14} {figures}", soft_wrap=True)
        for fault in each["faults"]:
            mark = "!" if fault["severity"] == "fault" else "-"
            console.print(f"  {mark} {fault['what']}", soft_wrap=True)
            for example in fault["examples"]:
                console.print(f"      {example}", soft_wrap=True)
