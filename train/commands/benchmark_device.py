"""`memenvs benchmark-device`: how fast a training runs on the CPU and on a GPU."""

from __future__ import annotations

from typing import Any

import click


@click.command("benchmark-device")
@click.argument("config")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Override a key.")
@click.option(
    "--share",
    type=float,
    help="Share of the frontier, or score, whose time is taken. Default: the CPU's best.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def benchmark_device(
    config: str, assignments: tuple[str, ...], share: float | None, as_json: bool
) -> None:
    """Run the training CONFIG on the CPU and on a CUDA GPU, in one go.

    Prints steps per second, how time is split, and the seconds until validation reached a share of
    the frontier, or a score in environments without one. Where there is no GPU its figures read
    "unmeasured".
    """
    from memenvs.train import terminal
    from memenvs.train.learn.device import benchmark_devices
    from memenvs.train.learn.settings import load_training

    training = load_training(config, assignments)
    found = benchmark_devices(training, share, lambda line: click.echo(line, err=True))
    if as_json:
        click.echo(terminal.as_json(found))
        return
    names = list(next(iter(found.values())))
    cells = [[name, *(_cell(figures[name]) for figures in found.values())] for name in names]
    terminal.make_console().print(terminal.plain_table(["", *found], cells, {""}))


def _cell(value: Any) -> str:
    if value is None:
        return "not reached"
    return value if isinstance(value, str) else f"{value:,.3g}" if value < 10 else f"{value:,.0f}"
