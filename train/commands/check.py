"""`memenvs check FILE`: whether a material file can be read, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memenvs.material.material import Material


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a material.")
def check(file: str, as_json: bool) -> None:
    """Read a material FILE strictly and say what it holds, one line a material."""
    from memenvs.material.files import load_materials
    from memenvs.train import terminal

    found = [_described(material) for material in load_materials(file)]
    if as_json:
        click.echo(terminal.as_json(found))
        return
    for each in found:
        click.echo(_line(each))


def _described(material: Material) -> dict[str, Any]:
    return {
        "material": material.name,
        "claims": len(material.claims),
        "items": len(material.items),
        "queries": len(material.queries),
        "decomposable": material.is_decomposable,
        "monotone": material.is_monotone,
        "false_claims": int((material.incidence.truth == 0).sum()),
        "uncertain_claims": int(
            ((material.incidence.truth > 0) & (material.incidence.truth < 1)).sum()
        ),
        "embedding": len(material.claims[0].embedding or ()),
    }


def _line(each: dict[str, Any]) -> str:
    parts = [f"{each['claims']} claims"]
    for kind in ("false", "uncertain"):
        if each[f"{kind}_claims"]:
            parts[0] += f", {each[f'{kind}_claims']} {kind}"
    parts += [f"{each['items']} items", f"{each['queries']} queries"]
    parts.append("decomposable" if each["decomposable"] else "not decomposable")
    parts.append("monotone" if each["monotone"] else "not monotone")
    dimension = each["embedding"]
    parts.append(f"embeddings of {dimension} numbers" if dimension else "no embeddings")
    return f"{each['material']}: {'; '.join(parts)}"
