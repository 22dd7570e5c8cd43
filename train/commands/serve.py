"""`memenvs serve`: a weighted memory tree as a memory server for agents."""

from __future__ import annotations

import click


@click.command()
@click.argument("file")
def serve(file: str) -> None:
    """Serve the weighted memory tree in FILE to an agent, over standard input and output.

    It speaks the Model Context Protocol (MCP), with the tools remember, search, update and forget.
    The file is made where there is none; each change is on the disk before it is answered.
    """
    from memenvs.policies.weighted_tree import WeightedTree
    from memenvs.policies.weighted_tree.server import server_of

    tree = WeightedTree.open(file)
    try:
        server_of(tree).run()
    finally:
        tree.close()
