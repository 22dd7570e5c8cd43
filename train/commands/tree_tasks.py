"""`memenvs tree-tasks`: the weighted tree's components on long-horizon tasks."""

from __future__ import annotations

import click


@click.command("tree-tasks")
@click.option("--tasks", type=click.IntRange(1), default=100, help="To play (100).")
@click.option(
    "--split",
    type=click.Choice(["validation", "test"]),
    default="validation",
    help="Which tasks: constants are looked at on validation (the default) alone.",
)
@click.option("--sensitivity", is_flag=True, help="Vary the constants of the full tree instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def tree_tasks(tasks: int, split: str, sensitivity: bool, as_json: bool) -> None:
    """Play generated long-horizon tasks with parts of the weighted memory tree switched on.

    Accuracy is the share of tasks whose final answer is right; tokens are those of all prompts,
    and of the questions that a model would be asked as selector and as summariser. No model is
    asked: a simulated agent answers from what its prompts show.
    """
    from memenvs.train import terminal
    from memenvs.train.studies.tree_play import play_components, play_sensitivity

    rows = (play_sensitivity if sensitivity else play_components)(split, tasks)
    if as_json:
        click.echo(terminal.as_json({"split": split, "tasks": tasks, "rows": rows}))
        return
    names = ("memory", "accuracy", "interval", "steps", "tokens", "prompts", "obsolete")
    cells = [
        [
            row["memory"],
            f"{row['accuracy']:.3f}",
            f"[{row['low']:.3f}, {row['high']:.3f}]",
            f"{row['steps']:.3f}",
            f"{row['tokens']:,}",
            f"{row['prompts']:,}",
            f"{row['obsolete']:.2f}",
        ]
        for row in rows
    ]
    terminal.make_console().print(terminal.plain_table(names, cells, {"memory"}))
