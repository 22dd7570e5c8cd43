"""`memenvs frontier NAME_OR_FILE`: the best possible at each capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from memenvs.optimal.curve import Frontier
    from memenvs.reading.answers import Utility


@click.command()
@click.argument("name_or_file")
@click.option(
    "--objective",
    type=click.Choice(["coverage", "precision", "end-to-end"]),
    default="coverage",
    show_default=True,
)
@click.option("--reader", help="Of a memory that is read in part: similarity:K, bm25:K, tokens:N.")
@click.option(
    "--capacity",
    "capacities",
    type=float,
    multiple=True,
    help="Bound on the summed cost of a memory; repeat it. Default: 0 to the number of claims.",
)
@click.option(
    "--method",
    type=click.Choice(["exact", "greedy", "bound"]),
    default="exact",
    show_default=True,
)
@click.option("--split", help="Of a tier's materials (test).")
@click.option(
    "--materials", "count", type=click.IntRange(1), default=20, help="Of a tier, at most (20)."
)
@click.option("--time-limit", type=click.FloatRange(0), help="Seconds for a material.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def frontier(
    name_or_file: str,
    objective: Utility,
    reader: str | None,
    capacities: tuple[float, ...],
    method: Literal["exact", "greedy", "bound"],
    split: str | None,
    count: int,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Solve the utility-capacity frontier of a material, or of each material of a file."""
    from memenvs.materials.generator.tiers import Tier
    from memenvs.materials.library import find_materials, source_of
    from memenvs.objective import Objective
    from memenvs.optimal.curve import frontier as solve
    from memenvs.reading.answers import ALL
    from memenvs.train import terminal

    sought = Objective(objective, reader or ALL)
    limit = count if isinstance(source_of(name_or_file), Tier) else None  # a file is read whole

    solved = [
        (
            material.name,
            solve(material, sought, capacities or None, method, time_limit=time_limit),
        )
        for material in find_materials(name_or_file, split, limit)
    ]
    if as_json:
        documents = [_document(name, curve) for name, curve in solved]
        click.echo(terminal.as_json(documents if len(documents) > 1 else documents[0]))
        return
    console = terminal.make_console()
    columns = ("S", sought.name, "at most", "memory")
    for name, curve in solved:
        table = terminal.plain_table(columns, _cells(curve), {"memory"})
        table.title = f"\n{name}"
        console.print(table)


def _document(name: str, curve: Frontier) -> dict[str, Any]:
    return {
        "material": name,
        "objective": curve.objective,
        "capacities": list(curve.capacities),
        "values": curve.values.tolist(),
        "upper_bounds": curve.upper_bounds.tolist(),
        "optimal": curve.optimal.tolist(),
        "memories": [list(memory) for memory in curve.memories],
    }


def _cells(curve: Frontier) -> list[tuple[str, ...]]:
    return [
        (
            f"{capacity:g}",
            f"{curve.values[place]:.4f}",
            "proved" if curve.optimal[place] else f"{curve.upper_bounds[place]:.4f}",
            _memory(curve.memories[place]),
        )
        for place, capacity in enumerate(curve.capacities)
    ]


def _memory(claims: tuple[str, ...], shown: int = 8) -> str:
    more = f" and {len(claims) - shown} more" if len(claims) > shown else ""
    return " ".join(claims[:shown]) + more
