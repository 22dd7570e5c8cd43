"""The generated pages are those that the program would write, and a stale one is named."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import memenvs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def generate(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    yield importlib.import_module("generate")
    for name in [n for n in sys.modules if n.split(".")[0] in ("generate", "generator")]:
        del sys.modules[name]


def test_no_generated_page_is_stale():
    run = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_a_stale_page_is_named(generate, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "environments" / "hidden.md").write_text("Hidden")
    (tmp_path / "parts" / "policies.md").unlink()
    (tmp_path / "environments" / "gone.md").write_text("")
    assert generate.main(["--check"]) == 1
    named = re.findall(r"docs/(\S+) is stale", capsys.readouterr().err)
    assert named == ["environments/gone.md", "environments/hidden.md", "parts/policies.md"]
    generate.main([])
    assert not (tmp_path / "environments" / "gone.md").exists()
    assert generate.main(["--check"]) == 0


def test_arguments_that_are_not_understood_are_refused(generate, capsys):
    assert generate.main(["--chek"]) == 2
    assert "usage" in capsys.readouterr().err


def test_every_id_has_its_place_on_one_page(generate):
    made = generate.pages()
    for row in memenvs.registered_envs():
        if "user" not in row.tags:
            own = [path for path, text in made.items() if f"| `{row.id}` |" in text]
            assert len(own) == 2, row.id  # its family's page, and the list of all
            assert "environments/index.md" in own


def test_rows_of_the_headroom_table_come_with_its_header(generate, tmp_path, monkeypatch):
    from generator import environments, families

    file = tmp_path / "headroom.md"
    file.write_text(
        "# Headroom\n\n| id | random |\n|---|---|\n| `memenvs/Hidden-v0` | 29 |\n"
        "| `memenvs/Worlds-v0` | 31 |\n\n| id | optimum |\n|---|---|\n| Hidden-v0 | 100 |\n"
    )
    monkeypatch.setattr(environments, "HEADROOM", file)
    text = environments.headroom(families.find_families()["hidden"])
    assert "| id | random |\n|---|---|\n| `memenvs/Hidden-v0` | 29 |\n\n" in text
    assert "| id | optimum |\n|---|---|\n| Hidden-v0 | 100 |" in text
    assert "31" not in text


def test_exceptions_to_what_most_ids_have_are_named(generate):
    from generator.families import find_families
    from generator.observations import per_id

    rows = find_families()["odyssey"]
    assert per_id(rows, ["1"] * len(rows)) == "1"
    values = ["2", *["1"] * (len(rows) - 2), "3"]
    assert per_id(rows, values) == "1; 2 in `Odyssey-v0`; 3 in `OdysseyDisclosed-v0`"


def test_a_docstring_is_taken_apart(generate):
    from generator.markdown import docstring

    class Thing:
        """Do this,
        and that.

        Before ``it``.

        Args:
            a: one
                goes on.
            b, c: two.

        After.
        """

    summary, parameters, rest = docstring(Thing)
    assert summary == "Do this, and that."
    assert parameters == {"a": "one goes on.", "b, c": "two."}
    assert rest == "Before `it`.\n\nAfter."
