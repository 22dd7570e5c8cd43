"""What the command line refuses, and how: one line, exit code 2, never a traceback."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import RUN, memenvs_cli

BAD_ARGUMENTS = {
    "no command": ([], "Missing command"),
    "unknown command": (["compar"], "'compare'"),
    "unknown option": (["compare", "--polic", "x"], "--policy"),
    "no file": (["check"], "Missing argument 'FILE'"),
    "missing file": (["check", "nowhere.json"], "nowhere.json"),
    "missing name": (["frontier", "nowhere"], "neither a registered material ("),
    "bad objective": (["frontier", "odyssey", "--objective", "recall"], "recall"),
    "negative capacity": (["frontier", "odyssey", "--capacity", "-1"], "-1"),
    "nan capacity": (["frontier", "odyssey", "--capacity", "nan"], "nan"),
    "nothing to compare": (["compare"], "--material NAME_OR_FILE"),
    "two things to compare": (
        ["compare", "--material", "odyssey", "--env", "memenvs/Odyssey-v0"],
        "only one of them",
    ),
    "unknown material": (["compare", "--material", "iliad"], "iliad"),
    "unknown policy": (["compare", "--material", "odyssey", "--policy", "lifo"], "reservoir"),
    "unknown baseline": (["compare", "--material", "odyssey", "--baseline", "lifo"], "fifo"),
    "unknown env": (["compare", "--env", "memenvs/Odissey-v0"], "Odyssey"),
    "env of another kind": (["compare", "--env", "CartPole-v1", "--capacity", "2"], "CartPole"),
    "unknown config": (["compare", "demoo"], "demo"),
    "no slots": (["compare", "demo", "--capacity", "0"], "--capacity"),
    "infinite budget": (["compare", "demo", "--budget", "inf"], "--budget"),
    "out is a file": (["compare", "demo", "--out", "/dev/null"], "/dev/null"),
    "unknown data set": (["convert", "squad", "in", "out"], "entailment-bank"),
    "trees of no wood": (["convert", "locomo", "in", "out", "--trees", "3"], "--trees does not"),
    "convert over": (["convert", "locomo", __file__, __file__], "is there and holds no material"),
    "import a file": (["--import", "./mine.py", "envs"], "a module's name, not a file's"),
    "import a relative name": (["--import", ".mine", "envs"], "--import .mine"),
    "fit nothing": (["convert", "locomo", "in", "out", "--fit-on", "x"], "--embed"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_arguments_cost_one_line(case: str) -> None:
    arguments, hint = BAD_ARGUMENTS[case]
    result = memenvs_cli(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert hint in result.stderr


GOOD = {
    "format": "memenvs.material/1",
    "name": "m",
    "claims": [{"id": "c"}],
    "items": [{"id": "n", "supports": [["c"]], "answers": ["q"]}],
    "queries": [{"id": "q"}],
}
BAD_FILES: dict[str, str | bytes] = {
    "empty": "",
    "truncated": json.dumps(GOOD)[:-9],
    "binary": bytes(range(256)),
    "a list": "[1]",
    "nested": "[" * 100_000,
    "other format": json.dumps({**GOOD, "format": "memenvs.material/9"}),
    "unknown field": json.dumps({**GOOD, "claim": []}),
    "no claims": json.dumps({**GOOD, "claims": []}),
    "wrong type": json.dumps({**GOOD, "claims": [{"id": 3}]}),
    "duplicate": json.dumps({**GOOD, "queries": [{"id": "q"}, {"id": "q"}]}),
    "unknown id": json.dumps({**GOOD, "items": [{**GOOD["items"][0], "answers": ["p"]}]}),
    "nan": json.dumps({**GOOD, "queries": [{"id": "q", "weight": math.nan}]}),
    "lines\nin a name": json.dumps({**GOOD, "claims": [{"id": "c"}, {"id": "c\nd", "x\ny": 1}]}),
}


@pytest.mark.parametrize("command", [["check"], ["frontier"], ["compare", "--material"]])
@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files_cost_one_line(command: list[str], kind: str, tmp_path: Path) -> None:
    content = BAD_FILES[kind]
    file = tmp_path / "bad.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = memenvs_cli(*command, str(file))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "bad.json" in result.stderr


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = memenvs_cli("compare", "demo", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert result.stderr == "memenvs: needs matplotlib: pip install 'memenvs[plot]'\n"
    assert not (tmp_path / "out").exists()


def test_interruption_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memenvs.material.files.load_materials", interrupted)
    result = memenvs_cli("check", "x")
    assert result.exit_code == 130
    assert result.output.strip() == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["--help"], 0),
        (["compare", "--help"], 0),
        (["envs"], 0),
        (["frontier", "odyssey", "--json"], 0),
        (["check", "nowhere"], 2),
        (["compare", "--material", "odyssey", "--policy", "lifo"], 2),
    ],
)
def test_exit_codes_of_the_process(arguments: list[str], code: int) -> None:
    result = subprocess.run([*RUN, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == code
    assert "Traceback" not in result.stderr
    assert bool(result.stderr) == (code != 0)


@pytest.mark.parametrize("arguments", [["frontier", "odyssey"], ["envs", "--json"]])
def test_a_reader_may_leave(arguments: list[str]) -> None:
    process = subprocess.Popen(
        [*RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() in (0, 1)
    assert errors == ""


def test_help_loads_nothing_heavy() -> None:
    heavy = "pydantic scipy matplotlib sklearn rich yaml highspy torch"
    code = f"import sys, memenvs.train.cli; print(set({heavy.split()}) & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"set()"
