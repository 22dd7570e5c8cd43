"""`memenvs held-out MATERIAL...`: grade memories by questions that were never asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memenvs.material.material import Material

POLICIES = ("random", "fifo", "longest", "memorybank", "trust", "pretrained")


@click.command(name="held-out")
@click.argument("materials", metavar="NAME_OR_FILE...", nargs=-1, required=True)
@click.option(
    "--policy",
    "policies",
    metavar="NAME_OR_MODEL",
    multiple=True,
    default=POLICIES,
    help=f"Repeat it. Default: {', '.join(POLICIES)}.",
)
@click.option("--baseline", default="longest", show_default=True, metavar="POLICY")
@click.option("--capacity", type=click.IntRange(1), multiple=True, help="Slots; repeat it.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    multiple=True,
    help="Of the claims that are kept; repeat it. Default: a tenth and a quarter.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def held_out(
    materials: tuple[str, ...],
    policies: tuple[str, ...],
    baseline: str,
    capacity: tuple[int, ...],
    share: tuple[float, ...],
    seed: int,
    as_json: bool,
) -> None:
    """Settle half of the questions of each material, and grade the memory by both halves.

    Columns are coverage: of the questions that were asked, of those that were never asked (both
    means over the two directions), and static, of all where none was settled. Intervals are over
    materials; the last column is the paired difference to --baseline in never asked.
    """
    from memenvs.materials.library import find_materials
    from memenvs.train.held_out import reached

    found = [material for name in materials for material in find_materials(name)]
    shares = share or (() if capacity else (0.1, 0.25))
    sizes: list[tuple[str, list[int]]] = [
        (f"S = {slots}", [slots] * len(found)) for slots in capacity
    ]
    sizes += [(f"{each:.0%}", _shares(found, each)) for each in shares]
    rows = []
    for size, slots in sizes:
        against = reached(found, baseline, slots, seed)
        for policy in policies:
            own = against if policy == baseline else reached(found, policy, slots, seed)
            rows.append(own.as_row(against, size))
            if not as_json:
                click.echo(_line(rows[-1], baseline))
    if as_json:
        click.echo(json.dumps(rows))


def _shares(materials: Sequence[Material], share: float) -> list[int]:
    return [max(1, round(share * len(material.claims))) for material in materials]


def _line(row: dict[str, Any], baseline: str) -> str:
    figures = "  ".join(f"{name} {row[name]:.3f}" for name in ("asked", "never", "static"))
    ends = row["never_vs_baseline_interval"]
    between = "" if ends is None else f" [{ends[0]:+.3f}, {ends[1]:+.3f}]"
    return (
        f"{row['size']:>8}  {row['policy']:<20}  {figures}"
        f"  vs {baseline} {row['never_vs_baseline']:+.3f}{between}"
    )
