"""`memenvs links FILE`: hide the known supports of materials, and say how well links find them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memenvs.train.own_material.measure import Tally


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--encoder",
    default="tfidf",
    show_default=True,
    metavar="NAME_PATH_OR_URL",
    help="As of `memenvs build`.",
)
@click.option("--encoder-model", metavar="NAME", help="Of the endpoint.")
@click.option(
    "--min-score",
    type=click.FloatRange(0.0, 1.0),
    default=0.5,
    show_default=True,
    help="How likely right a link must be.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def links(
    files: tuple[str, ...], encoder: str, encoder_model: str | None, min_score: float, as_json: bool
) -> None:
    """Hide the supports of materials FILE, link their queries anew, and compare.

    A row is a method, for the questions it links in its turn: how many, the share of linked claims
    that are right, the share of the supports' claims that were linked, the share of questions
    whose support was found exactly, and the mean score, which should be near the precision.
    """
    from memenvs.material.files import load_materials
    from memenvs.text.cache import Cache
    from memenvs.text.embedders.named import named_encoder
    from memenvs.train.own_material.judging import configured_link_judge
    from memenvs.train.own_material.measure import measure

    materials = [material for file in files for material in load_materials(file)]
    used = named_encoder(encoder, model=encoder_model, dimension=None)
    judge = configured_link_judge(Cache(None))
    tallies = measure(materials, used, judge, min_score)
    if not tallies:
        raise click.UsageError("no query of these materials is answered by an item")
    rows = {name: _row(tally) for name, tally in tallies.items()}
    if as_json:
        click.echo(json.dumps(rows))
        return
    click.echo(
        f"{'method':<12}{'questions':>10}{'precision':>11}{'recall':>8}{'exact':>7}{'score':>7}"
    )
    for name, row in rows.items():
        numbers = "".join(
            f"{row[column]:>{width}.3f}"
            for column, width in (("precision", 11), ("recall", 8), ("exact", 7), ("score", 7))
        )
        click.echo(f"{name:<12}{row['linked']:>4} / {row['questions']:<3}{numbers}")


def _row(tally: Tally) -> dict[str, Any]:
    return {
        "questions": tally.questions,
        "linked": tally.linked,
        "precision": tally.precision,
        "recall": tally.recall,
        "exact": tally.whole / tally.questions,
        "score": sum(tally.scores) / len(tally.scores) if tally.scores else 0.0,
    }
