"""`memenvs convert KIND FILE OUT`: a published data set made into materials."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from memenvs.materials.datasets.conversion import Conversion
    from memenvs.text.tfidf import TfidfEncoder


@click.command()
@click.argument("kind")
@click.argument("file")
@click.argument("out")
@click.option("--strict", is_flag=True, help="Refuse if anything is left out or normalised.")
@click.option(
    "--trees", type=click.IntRange(1), help="Proof trees a material (entailment-bank; 20)."
)
@click.option(
    "--questions",
    type=click.IntRange(1),
    help="Questions a material (data sets of questions; 20, longmemeval 1).",
)
@click.option(
    "--form",
    type=click.Choice(["attacked", "bare"]),
    help="False texts with the question before them, or alone (poisonedrag; attacked).",
)
@click.option(
    "--embed",
    "dimension",
    type=click.IntRange(1),
    help="Attach TF-IDF/SVD vectors of this length; the encoder is saved as OUT.encoder.npz.",
)
@click.option(
    "--fit-on", metavar="FILE", help="Materials whose claims the encoder is fitted on (those made)."
)
def convert(
    kind: str,
    file: str,
    out: str,
    strict: bool,
    trees: int | None,
    questions: int | None,
    form: str | None,
    dimension: int | None,
    fit_on: str | None,
) -> None:
    """Convert a data set FILE of a KIND to the JSON Lines file OUT.

    KIND is 2wikimultihopqa, climate-fever, entailment-bank, friendsqa, hotpotqa, locomo,
    longmemeval, musique, poisonedrag or strategyqa; the page on data sets says what becomes of
    each. What was left out or normalised, and why, is reported on standard error.
    """
    if fit_on is not None and dimension is None:
        raise click.UsageError("--fit-on needs --embed DIM: it says what the encoder is fitted on")
    from memenvs.material.files import check_target
    from memenvs.materials.datasets.conversion import convert as read

    check_target(out)
    options = {"trees": trees, "questions": questions, "form": form}
    conversion = read(kind, file, **{k: n for k, n in options.items() if n is not None})
    encoder = None
    if dimension is not None:
        encoder, conversion = _embedded(conversion, dimension, fit_on)
    conversion.save(out, strict=strict)
    if encoder is not None:
        try:
            encoder.save(f"{out}.encoder.npz")
        except OSError:
            Path(out).unlink()  # materials without their encoder would be half of what was asked
            raise
    click.echo(conversion.report(), err=True)


def _embedded(
    conversion: Conversion, dimension: int, fit_on: str | None
) -> tuple[TfidfEncoder, Conversion]:
    from memenvs.material.files import load_materials
    from memenvs.text.encoders import embed
    from memenvs.text.tfidf import TfidfEncoder

    fitted_on = conversion.materials if fit_on is None else load_materials(fit_on)
    encoder = TfidfEncoder.fit(fitted_on, dimension)
    embedded = tuple(embed(material, encoder) for material in conversion.materials)
    return encoder, replace(conversion, materials=embedded)
