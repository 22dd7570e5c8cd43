"""`memenvs register` and `memenvs unregister`: material files known by name in every process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memenvs.envs.levels import LEVELS


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--name", help="Letters, digits, '-' and '_'. Default: the file's.")
@click.option("--level", type=click.Choice(list(LEVELS)), default="1b", show_default=True)
@click.option("--capacity", type=click.IntRange(1), help="Slots. Default: a quarter of the claims.")
def register(file: str, name: str | None, level: str, capacity: int | None) -> None:
    """Make a material FILE an environment, `memenvs/NAME-v0`, in every process of yours.

    The name stands for the file as it is now: if it is changed or moved, whoever makes the
    environment is told. It is kept in the user's config folder, or in the file that
    MEMENVS_REGISTRY names.
    """
    from memenvs.envs.registry_file import register_file

    settings: dict[str, Any] = {} if capacity is None else {"capacity": capacity}
    identifier = register_file(file, name or Path(file).stem, level=level, **settings)
    click.echo(f'{identifier} plays {file}: gymnasium.make("memenvs:{identifier}")')


@click.command()
@click.argument("name", metavar="NAME")
def unregister(name: str) -> None:
    """Forget what NAME was registered for; the file itself stays."""
    from memenvs.envs.registry_file import unregister as forget

    forget(name)
    click.echo(f"memenvs/{name}-v0 is no more")
