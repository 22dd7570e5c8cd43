"""`memenvs pretrain MATERIAL...`: train weights of the policy `pretrained`."""

from __future__ import annotations

import click


@click.command()
@click.argument("materials", metavar="NAME_OR_FILE...", nargs=-1, required=True)
@click.option("--out", metavar="FILE", required=True, help="Where the weights are written.")
@click.option(
    "--steps",
    type=click.IntRange(0),
    default=400,
    show_default=True,
    help="Of reinforcement learning; 0 gives the logistic regression that it starts from.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option("--licence", default="", metavar="TEXT", help="Of the materials, for the card.")
def pretrain(materials: tuple[str, ...], out: str, steps: int, seed: int, licence: str) -> None:
    """Train the weights of `pretrained` on materials of texts, for texts that are unlike them.

    It starts from a logistic regression, whose labels are what is asked about, and goes on by
    rewards of coverage alone. Play them as --policy pretrained:FILE.
    """
    from pathlib import Path

    from memenvs.materials.library import find_materials
    from memenvs.train.learn.pretraining import pretrain as run

    found = [material for name in materials for material in find_materials(name)]
    names = [Path(name).name for name in materials]
    card = {
        "command": f"memenvs pretrain {' '.join(names)} --steps {steps} --seed {seed}",
        "materials": names,
        "claims": sum(len(material.claims) for material in found),
        "queries": sum(len(material.queries) for material in found),
        "licence": licence,
        "steps": steps,
        "seed": seed,
    }
    run(found, steps=steps, seed=seed, card=card).save(out)
    click.echo(f"{out}: trained on {len(found)} materials; play it as --policy pretrained:{out}")
