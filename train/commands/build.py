"""`memenvs build DOC... --questions QA.jsonl --out M.jsonl`: documents made into a material."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from memenvs.text.times import Order
    from memenvs.train.own_material.build import Advance
    from memenvs.train.own_material.segment import By


@click.command()
@click.argument("documents", metavar="DOC...", nargs=-1, required=True)
@click.option(
    "--questions", required=True, metavar="FILE", help="Questions, as JSON, JSON Lines or CSV."
)
@click.option("--out", required=True, metavar="FILE", help="The material to write.")
@click.option("--name", help="Of the material. Default: OUT's.")
@click.option(
    "--by",
    type=click.Choice(("sentence", "passage")),
    help="What a claim is. Default: sentences of prose; messages and rows as they are.",
)
@click.option("--join-answers", is_flag=True, help="A question and its short answer: one claim.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files of folders to leave out.")
@click.option("--strict", is_flag=True, help="Refuse if a file of a folder cannot be read.")
@click.option("--encoding", metavar="NAME", help="Of texts that are not UTF-8. Default: a guess.")
@click.option(
    "--dates",
    type=click.Choice(("dmy", "mdy", "ymd")),
    help="Order of day, month and year in numbers. Default: as the dates of a file show.",
)
@click.option("--language", metavar="CODE", help="Of the text (en, de, ...). Default: by script.")
@click.option(
    "--encoder",
    default="tfidf",
    show_default=True,
    metavar="NAME_PATH_OR_URL",
    help="tfidf, hashing, a model's path (sentence-transformers, model2vec, ONNX), an endpoint.",
)
@click.option("--encoder-model", metavar="NAME", help="Of the endpoint.")
@click.option("--dimension", type=click.IntRange(1), help="Length of vectors (tfidf, hashing; 64).")
@click.option(
    "--min-score",
    type=click.FloatRange(0.0, 1.0),
    default=0.5,
    show_default=True,
    help="How likely right a link must be that is not given as evidence.",
)
@click.option("--cache", "folder", metavar="DIR", help="Default: the user's cache folder.")
def build(
    documents: tuple[str, ...],
    questions: str,
    out: str,
    name: str | None,
    by: By | None,
    join_answers: bool,
    exclude: tuple[str, ...],
    strict: bool,
    encoding: str | None,
    dates: Order | None,
    language: str | None,
    encoder: str,
    encoder_model: str | None,
    dimension: int | None,
    min_score: float,
    folder: str | None,
) -> None:
    """Make a material of documents and folders DOC and of questions about them.

    A question has `question`, and `evidence` (a quote, an offset, the id of a claim, or a list of
    them), `answer`, or both. How each was linked is written to OUT.links.jsonl, the encoder to
    OUT.encoder.json; a report goes to standard error. Nothing leaves this machine unless a judge
    (MEMENVS_JUDGE_URL) or an endpoint is given.
    """
    from rich.progress import Progress

    from memenvs.material.files import check_target
    from memenvs.text.cache import Cache
    from memenvs.text.embedders.named import DIMENSION, named_encoder
    from memenvs.train.own_material.build import build as made
    from memenvs.train.own_material.judging import configured_link_judge
    from memenvs.train.terminal import make_console

    check_target(out)
    cache = Cache(folder or _cache_folder())
    judge = configured_link_judge(cache)
    if judge is not None:
        click.echo(f"questions that nothing else links go to the judge at {judge.url}", err=True)
    console = make_console(stderr=True)
    bars = Progress(console=console, transient=True, disable=not console.is_terminal)

    def progress(what: str, total: int) -> Advance:
        task = bars.add_task(what, total=total)
        return lambda done: bars.advance(task, done)

    try:
        with bars:
            built = made(
                documents,
                questions,
                name or Path(out).stem,
                by=by,
                language=language,
                encoder=named_encoder(encoder, model=encoder_model, dimension=dimension),
                dimension=dimension or DIMENSION,
                min_score=min_score,
                cache=cache,
                judge=judge,
                progress=progress,
                exclude=exclude,
                strict=strict,
                encoding=encoding,
                dates=dates,
                join_answers=join_answers,
            )
    finally:
        cache.close()
    built.save(out)
    click.echo(built.report(), err=True)


def _cache_folder() -> str:
    import platformdirs

    return str(Path(platformdirs.user_cache_dir("memenvs", appauthor=False)) / "build")
