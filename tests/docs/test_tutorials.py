"""The tutorials run as they are written: their commands, too, one after another."""

import shlex
import subprocess
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

import memenvs
from commands import memenvs_cli
from memenvs.envs.registry_file import VARIABLE
from registrations import forgotten

ROOT = Path(__file__).parents[2]


def run_commands(example):
    """Run every line; those of memenvs in this process."""
    for line in example.parsed.splitlines():
        program, *words = shlex.split(line.removeprefix("$"))
        if program != "memenvs":
            subprocess.run([program, *words], check=True)
            continue
        result = memenvs_cli(*words)
        assert result.exit_code == 0, result.output


BLOCKS = Sybil(
    parsers=[
        PythonCodeBlockParser(),
        CodeBlockParser(language="console", evaluator=run_commands),
    ]
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder beside the documentation, and a registry and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "config" / "materials.json"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with forgotten():
        yield tmp_path


def run(page):
    for example in BLOCKS.parse(ROOT / "docs" / page).examples():
        example.evaluate()


def test_from_notes_to_a_trained_memory(folder, capsys):
    pytest.importorskip("sb3_contrib")
    run("tutorial-notes.md")
    material = memenvs.load_material("notes.jsonl")
    assert (len(material.claims), len(material.queries)) == (36, 20)
    page = (folder / "notes.html").read_text()
    for figure in ("<b>36</b>", "<b>21</b>", "of 0.63 possible"):  # as the page says
        assert figure in page
    assert (folder / "runs" / "notes" / "best_model.zip").is_file()
    assert "['The spare key is now in the shed.']" in capsys.readouterr().out


def test_from_a_chat_to_a_memory_in_an_agent(folder, capsys):
    run("tutorial-agent.md")
    material = memenvs.load_material("chat-material.jsonl")
    assert (len(material.claims), len(material.queries)) == (8, 4)
    assert {claim for item in material.items for s in item.supports for claim in s} <= set(
        material.claim_ids
    )
    kept = capsys.readouterr().out
    assert 1 <= sum(claim.text in kept for claim in material.claims) <= 4
