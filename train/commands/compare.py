"""`memenvs compare`: policies on the same episodes, against the best possible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

MAX_SEED = 2**63 - 1
FAILED = 1  # exit code where an episode of a policy failed

if TYPE_CHECKING:
    from memenvs.train.compare import Comparison
    from memenvs.train.experiment import Experiment


@click.command()
@click.argument("config", required=False)
@click.option("--env", metavar="ID", help="Play this environment, by its own arguments.")
@click.option(
    "--material", metavar="NAME_OR_FILE", multiple=True, help="Play this as a stream; repeat it."
)
@click.option(
    "--game",
    metavar="NAME",
    help="Play --material in this game: shared-writers, poisoner-writer or asker-writer.",
)
@click.option(
    "--game-option", metavar="KEY=VALUE", multiple=True, help="Of --game, as poison=6; repeat it."
)
@click.option(
    "--opponent",
    metavar="NAME_OR_MODEL",
    multiple=True,
    help="Who plays against the writers in --game (all scripted ones); repeat it.",
)
@click.option(
    "--capacity",
    type=click.IntRange(1),
    multiple=True,
    help="Slots; repeat it. Default: the environment's, or a quarter of the largest material.",
)
@click.option(
    "--policy",
    metavar="NAME_OR_MODEL",
    multiple=True,
    help="A name, a model, or your own: MODULE:NAME or FILE.py:NAME; repeat it. "
    "Default: random, fifo, reservoir, longest and pretrained (of texts), optimal.",
)
@click.option("--baseline", metavar="POLICY", help="Give differences to this one (random).")
@click.option(
    "--utility",
    type=click.Choice(["coverage", "precision", "end-to-end"]),
    help="What the environment pays (precision, or the environment's own).",
)
@click.option(
    "--reader",
    metavar="NAME[:K]",
    help="Of --utility end-to-end: similarity, bm25, own (the K best) or oracle (similarity).",
)
@click.option("--reasoner", help="Of --utility end-to-end: best, span or openai (best).")
@click.option(
    "--correct", help="What an answer has to be: item, exact, f1 or judge (item; of words f1)."
)
@click.option(
    "--action",
    type=click.Choice(["slots", "priority"]),
    help="How claims are written (slots): a slot to fill, or a priority to be kept by.",
)
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Bound on the summed cost.")
@click.option(
    "--episodes", type=click.IntRange(1), help="Of each material (1; 20 if there is only one)."
)
@click.option(
    "--materials", type=click.IntRange(1), help="To play where each episode has a fresh one (20)."
)
@click.option("--split", help="Of a tier's materials (test).")
@click.option("--seed", type=click.IntRange(0, MAX_SEED), help="Of episodes and policies (0).")
@click.option(
    "--time-limit", type=click.FloatRange(0), help="Seconds for a material's frontier (60)."
)
@click.option("--out", metavar="DIR", help="Write tables and the plot there.")
@click.option(
    "--format",
    type=click.Choice(["markdown", "latex", "csv"]),
    help="Print the tables so, and not for a terminal.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(config: str | None, format: str | None, as_json: bool, **options: Any) -> int:
    """Compare write policies on the same episodes, and with the best possible.

    CONFIG is a YAML file whose keys are these options, or the name of one that comes with the
    package (demo); options given here override it. In a game the policies are the writers: each
    against every opponent, or together (NAME:split, NAME:split-often: as independent copies).
    """
    from memenvs.train import tables, terminal
    from memenvs.train.compare import compare as run
    from memenvs.train.experiment import load_experiment

    experiment = load_experiment(config, _given(options))
    if experiment.game is not None:
        _in_game(experiment, format, as_json=as_json)
        return 0
    folder = None if experiment.out is None else _folder(experiment.out)
    comparison = run(experiment, curve=folder is not None, track=terminal.progress)
    if folder is not None:
        _write(comparison, folder)
    if as_json:
        click.echo(terminal.as_json(comparison.as_document()))
    else:
        tables.print_comparison(comparison, format)
    for line in tables.failures(comparison.failed):
        click.echo(f"memenvs: {line}", err=True)
    return FAILED if comparison.failed else 0


def _in_game(experiment: Experiment, format: str | None, *, as_json: bool) -> None:
    """Compare in a game."""
    from memenvs.train import terminal
    from memenvs.train.games.comparison import compare_in_game
    from memenvs.train.games.results import print_game, write_game

    comparison = compare_in_game(experiment, terminal.progress)
    if experiment.out is not None:
        folder = Path(experiment.out)
        folder.mkdir(parents=True, exist_ok=True)
        write_game(comparison, folder)
    if as_json:
        click.echo(terminal.as_json(comparison.as_document()))
    else:
        print_game(comparison, format)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Keep the options that were given, by the keys of a configuration."""
    return {
        name.replace("_", "-"): list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value not in (None, ())
    }


def _folder(out: str) -> Path:
    """Make the folder, and see that the plot can be drawn, before anything is played."""
    import matplotlib  # noqa: F401

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(comparison: Comparison, folder: Path) -> None:
    from memenvs.train import plots, tables

    tables.write_tables(comparison, folder)
    if comparison.curve is not None:
        plots.save_frontier_plot(comparison, folder)
