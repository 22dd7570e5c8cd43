"""`memenvs gui`: which merge rule lets a memory help on pages that look alike."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memenvs.policies.bisimulation.adapter import Shortlister


@click.command()
@click.option("--tasks", multiple=True, metavar="NAME", help="Repeat it. Default: all.")
@click.option("--systems", multiple=True, metavar="NAME", help="Repeat it. Default: all.")
@click.option("--episodes", type=click.IntRange(3), default=60, help="Of each run (60).")
@click.option("--bases", type=click.IntRange(1), default=10, help="Seed bases (10).")
@click.option("--first-base", type=click.IntRange(0), default=0, help="The first of them (0).")
@click.option("--real", is_flag=True, help="Real MiniWoB++ pages, in Chromium; else simulated.")
@click.option(
    "--recording",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep what real pages showed in this file, and read there what it holds.",
)
@click.option("--model-url", help="Ask a model at this OpenAI-compatible address for shortlists.")
@click.option("--model", default="default", help="Its name there.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write gui.json and the cumulative success, gui.png, into this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def gui(
    tasks: tuple[str, ...],
    systems: tuple[str, ...],
    episodes: int,
    bases: int,
    first_base: int,
    real: bool,
    recording: Path | None,
    model_url: str | None,
    model: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Play the ladder of merge rules on graphical interfaces.

    All systems rerank the shortlists of one frozen policy, on the same instances, and take the same
    detours in the first third of each run; the rest is reported against the memoryless system.
    Without --model-url a scripted policy gives the shortlists. The model's key, if it wants one, is
    read from MEMENVS_MODEL_KEY, and sent where MEMENVS_MODEL_URL says and nowhere else.
    """
    from memenvs.envs.miniwob.browser import BrowserError
    from memenvs.train import terminal
    from memenvs.train.studies.gui.ladder import climb
    from memenvs.train.studies.gui.report import print_rows, save
    from memenvs.train.studies.gui.summary import summarise

    if recording is not None and not real:
        raise ValueError("--recording keeps what real pages showed; give --real with it")
    with ExitStack() as stack:
        if real and recording is None:  # further systems need not see a page again
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="memenvs-pages-"))
            recording = Path(folder) / "pages.sqlite"
        try:
            ladder = climb(
                _policy(model_url, model),
                lambda task: _env(task, real, recording),
                tasks=tasks,
                systems=systems,
                bases=range(first_base, first_base + bases),
                episodes=episodes,
                real=real,
                progress=lambda task: click.echo(f"playing {task}", err=True),
            )
        except BrowserError as error:
            raise click.ClickException(str(error)) from None
    rows = summarise(ladder)
    if out is not None:
        save(ladder, rows, out)
    if as_json:
        click.echo(terminal.as_json({"rows": rows}))
    else:
        print_rows(rows)


def _env(task: str, real: bool, recording: Path | None) -> Any:
    if real:
        from memenvs.envs.miniwob.env import MiniWoBEnv

        return MiniWoBEnv(task, recording=recording)
    from memenvs.envs.panels.env import PanelsEnv

    return PanelsEnv(task)


def _policy(url: str | None, model: str) -> Shortlister:
    if url is None:
        from memenvs.policies.gui import ScriptedPolicy

        return ScriptedPolicy()
    from memenvs.policies.gui import ModelPolicy
    from memenvs.text.chat import Chat
    from memenvs.text.origins import key_for

    return ModelPolicy(Chat(url, model, "model", key=key_for("model", url)))
