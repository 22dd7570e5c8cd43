"""`memenvs envs`: the environments that can be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memenvs.envs.table import EnvRow


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def envs(as_json: bool) -> None:
    """List the registered environments."""
    import memenvs
    from memenvs.train import terminal

    rows = [_described(row) for row in memenvs.registered_envs()]
    if as_json:
        click.echo(terminal.as_json(rows))
        return
    cells = [
        [", ".join(v) if isinstance(v, list) else str(v or "") for v in row.values()]
        for row in rows
    ]
    table = terminal.plain_table(list(rows[0]), cells, set(rows[0]) - {"capacity"})
    terminal.make_console().print(table)


def _described(row: EnvRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "level": row.level,
        "material": str(row.kwargs.get("material", "")),
        "tags": list(row.tags),
        "capacity": row.kwargs.get("capacity"),
    }
