"""`memenvs play ID`: a person takes the decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from memenvs.train.episode_player import EpisodePlayer
    from memenvs.train.player import Player

QUIT, HINT = "q", "?"


@click.command()
@click.argument("env_id", metavar="ID", required=False)
@click.option(
    "--material", metavar="NAME_OR_FILE", help="Play this as a stream with hidden queries."
)
@click.option(
    "--capacity", type=click.IntRange(1), help="Slots. Default: the environment's, or a quarter."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the episode."
)
def play(env_id: str | None, material: str | None, capacity: int | None, seed: int) -> None:
    """Play an episode of an environment ID on the terminal.

    The legal actions are listed; type the number of one, or q to stop. Where memories are written ?
    says what the optimal policy would do. What you see is what an agent may know, until you ask.
    """
    if bool(env_id) == bool(material):
        raise click.UsageError("give what to play: an ID or --material NAME_OR_FILE, not both")
    player = _player(env_id, material, capacity, seed)
    while not player.is_over():
        click.echo(f"\n{player.view()}\n{player.choices()}")
        if not _decide(player):
            break
    click.echo(f"\n{player.summary()}")


def _decide(player: Player | EpisodePlayer) -> bool:
    """Ask until a decision is taken; gives False where there is to be none."""
    while True:
        try:
            answer = click.prompt(player.question(), default="", show_default=False).strip()
        except click.Abort:  # the input ends, or Ctrl-C
            click.echo()
            return False
        if answer == QUIT:
            return False
        if answer == HINT:
            click.echo(player.hint())
            continue
        problem = player.take(answer)
        if problem is None:
            return True
        click.echo(problem)


def _player(
    env_id: str | None, material: str | None, capacity: int | None, seed: int
) -> Player | EpisodePlayer:
    import memenvs
    from memenvs.train.episode_player import EpisodePlayer, make_any
    from memenvs.train.places import is_registered
    from memenvs.train.player import Player, make_material, make_registered

    given = {} if capacity is None else {"capacity": capacity}
    if env_id is None:
        assert material is not None
        return Player(make_material(material, given), seed)
    rows = {row.id: row for row in memenvs.registered_envs()}
    if is_registered(env_id) and "material" not in getattr(rows.get(env_id), "kwargs", {}):
        if capacity is not None:
            raise ValueError(f"{env_id} has no memory of slots; leave --capacity out")
        return EpisodePlayer(make_any(env_id), seed)
    return Player(make_registered(env_id, given), seed)
