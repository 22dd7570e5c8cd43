"""`memenvs memories`: the memories in use today, compared everywhere, as a page."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click


@click.command()
@click.option("--out", metavar="FILE", required=True, help="Write the page there, as Markdown.")
@click.option("--locomo", metavar="FILE", help="LoCoMo as published; without it, it is left out.")
@click.option("--entailment-bank", metavar="FILE", help="EntailmentBank as published; likewise.")
@click.option(
    "--materials", type=click.IntRange(2), default=200, help="To play of each tier (200)."
)
@click.option("--section", multiple=True, help="Only the sections of this title; repeat it.")
def memories(
    out: str,
    locomo: str | None,
    entailment_bank: str | None,
    materials: int,
    section: tuple[str, ...],
) -> None:
    """Compare the memories in use today on every kind of material, and write a page about it.

    Their rules, constants and stand-ins, the scenarios in which memories fail, and a table for each
    material: the Odyssey, the test split of every small tier, level 1b, LoCoMo, EntailmentBank.
    No model is asked: an observable stand-in judges, whatever MEMENVS_JUDGE_URL says.
    """
    from memenvs.material.files import save_materials, write_whole
    from memenvs.materials.datasets.conversion import convert
    from memenvs.train.studies.memories import SECTIONS, run_section
    from memenvs.train.studies.memories_report import as_markdown
    from memenvs.train.studies.scenarios import run_scenarios

    given = {"locomo": locomo, "entailment-bank": entailment_bank}
    known = {each.title: each for each in SECTIONS}
    for title in section:
        if title not in known:
            raise ValueError(f"no section is titled '{title}'; choose from {', '.join(known)}")
    wanted = [each for each in SECTIONS if not section or each.title in section]
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for kind, file in given.items():
            if file is not None:
                files[kind] = str(Path(folder) / f"{kind}.jsonl")
                save_materials(convert(kind, file).materials, files[kind])
        for each in wanted:
            if each.data and each.data not in files:
                continue
            click.echo(each.title, err=True)
            data = [files[each.data]] if each.data else []
            measured.append(run_section(each, files=data, materials=materials))
    missing = [each.title for each in wanted if each.data and given[each.data] is None]
    write_whole(Path(out), as_markdown(measured, run_scenarios(), missing).encode())
