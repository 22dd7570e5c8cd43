"""Materials registered by name: known in every process, kept whole, and told when they are gone."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

import memenvs
from commands import memenvs_cli
from memenvs.envs import registry_file
from memenvs.envs.registry_file import VARIABLE, register_file, registry_path, unregister
from memenvs.materials.odyssey import odyssey, odyssey_noisy
from memenvs.storage.reading import sealed
from registrations import forgotten


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a material and a registry of its own; what was registered is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "config" / "materials.json"))
    odyssey().save("notes.jsonl")
    with forgotten():
        yield tmp_path


def elsewhere(script):
    """Run Python in a fresh process; gives the finished process."""
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


SHAPE = (
    "import gymnasium as gym\n"
    "env = gym.make('memenvs:memenvs/notes-v0')\n"
    "print(env.reset(seed=0)[0]['memory'].shape[0], env.unwrapped.material.name)\n"
)
IMPORT = "import memenvs; print(len(memenvs.registered_envs()))"


def test_a_registered_name_is_an_environment_in_another_process_until_it_is_unregistered(home):
    result = memenvs_cli("register", "notes.jsonl", "--name", "notes", "--capacity", "2")
    assert result.exit_code == 0, result.stderr
    assert "memenvs/notes-v0" in result.stdout
    os.chdir("config")  # the file is found from anywhere
    assert elsewhere(SHAPE).stdout.split() == ["2", "odyssey"]
    assert "memenvs/notes-v0" in memenvs_cli("envs").stdout
    assert memenvs_cli("unregister", "notes").exit_code == 0
    assert "memenvs/notes-v0" not in memenvs_cli("envs").stdout
    gone = elsewhere(SHAPE)
    assert gone.returncode == 1
    assert "doesn't exist" in gone.stderr
    assert Path(home / "notes.jsonl").exists()


def test_spawned_workers_know_it(home):
    identifier = register_file("notes.jsonl", "notes", capacity=2)
    workers = gym.make_vec(
        identifier, 2, vectorization_mode="async", vector_kwargs={"context": "spawn"}
    )
    try:
        observation, _ = workers.reset(seed=3)
    finally:
        workers.close()
    mine, _ = gym.make(identifier).reset(seed=3)
    assert (observation["claim"][0] == mine["claim"]).all()


def test_a_name_that_is_taken_is_refused_and_changes_nothing(home):
    register_file("notes.jsonl", "notes")
    kept = registry_path().read_bytes()
    for name in ("notes", "odyssey", "hidden"):
        result = memenvs_cli("register", "notes.jsonl", "--name", name)
        assert result.exit_code == 2
        undone = ", or run: memenvs unregister notes" if name == "notes" else ""
        problem = f"'{name}' is registered already; choose another name{undone}"
        assert result.stderr == f"memenvs: {problem}\n"
    assert (
        "cannot name a material" in memenvs_cli("register", "notes.jsonl", "--name", "a/b").stderr
    )
    assert registry_path().read_bytes() == kept
    with pytest.raises(ValueError, match="'notes' is registered already"):
        memenvs.register_material("notes", odyssey)


def test_a_name_taken_by_another_process_since_is_refused(home):
    run = elsewhere(
        "from memenvs.envs.registry_file import register_file as r; r('notes.jsonl', 'n')"
    )
    assert run.returncode == 0, run.stderr
    with pytest.raises(ValueError, match="'n' is registered already"):
        register_file("notes.jsonl", "n")  # this process has not read the registry since


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot be read: No such file"), (b"{}", "field 'format'"), (b"\xff", "is not UTF-8")],
)
def test_a_bad_file_is_not_registered(content, problem, home):
    (home / "notes.jsonl").unlink()
    if content is not None:
        (home / "notes.jsonl").write_bytes(content)
    result = memenvs_cli("register", "notes.jsonl")
    assert result.exit_code == 2
    assert result.stderr.startswith("memenvs: ")
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not registry_path().exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [("gone", "cannot be read (No such file"), ("changed", "has changed since it was registered")],
)
def test_a_file_that_is_gone_or_changed_is_told_when_it_is_made(change, problem, home):
    assert memenvs_cli("register", "notes.jsonl").exit_code == 0
    (home / "notes.jsonl").unlink()
    if change == "changed":
        odyssey_noisy().save("notes.jsonl")
    imported = elsewhere(IMPORT)
    assert (imported.returncode, imported.stderr) == (0, "")
    run = elsewhere(SHAPE)
    last = run.stderr.splitlines()[-1]
    assert last.startswith("memenvs.errors.MaterialError: ")
    assert str(home / "notes.jsonl") in last
    assert problem in last
    assert "memenvs unregister notes" in last
    result = memenvs_cli("compare", "--material", "notes", "--policy", "fifo")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert memenvs_cli("unregister", "notes").exit_code == 0
    assert memenvs_cli("register", "notes.jsonl").exit_code == (0 if change == "changed" else 2)


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b'{"format": "other/1", "materials": {}}',
        b'{"format": "memenvs.registry/2", "materials": {"notes": {"file": "x"}}}',
        b'{"format": "memenvs.registry/2", "materials": {"notes": 3}}',
    ],
)
def test_a_broken_registry_is_told_and_neither_breaks_the_import_nor_is_overwritten(content, home):
    path = registry_path()
    path.parent.mkdir()
    path.write_bytes(content)
    imported = elsewhere(IMPORT)
    assert imported.returncode == 0
    assert str(path) in imported.stderr
    assert len(imported.stderr.splitlines()) == 1
    for command in (("register", "notes.jsonl"), ("unregister", "notes")):
        result = memenvs_cli(*command)
        assert result.exit_code == 2
        assert str(path) in result.stderr
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "change", [{"level": "9"}, {"settings": {"material": "odyssey"}}, {"name": "odyssey"}]
)
def test_an_entry_that_cannot_be_used_is_left_out_and_told(change, home, caplog):
    register_file("notes.jsonl", "notes")
    register_file("notes.jsonl", "second")
    document = json.loads(registry_path().read_text())
    entry = document["materials"].pop("notes")
    name = change.pop("name", "notes")
    document["materials"][name] = entry | change
    del document["sha256"]
    registry_path().write_text(json.dumps(sealed(document)))
    for known in ("notes", "second"):
        registry_file.forget(known)
    with caplog.at_level(logging.WARNING, logger="memenvs"):
        registry_file.register_users()
    assert [f"'{name}'" in record.message for record in caplog.records] == [True]
    assert "memenvs/second-v0" in gym.registry
    assert "memenvs/notes-v0" not in gym.registry


def test_processes_that_register_at_once_lose_nothing(home):
    script = (
        "import sys\n"
        "from memenvs.envs.registry_file import register_file, unregister\n"
        "sys.stdin.read()\n"  # begin together
        "for n in range(12):\n"
        "    register_file('notes.jsonl', f'{sys.argv[1]}-{n}')\n"
        "    if n % 2: unregister(f'{sys.argv[1]}-{n}')\n"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", script, name], stdin=subprocess.PIPE)
        for name in ("a", "b", "c")
    ]
    for worker in workers:
        worker.stdin.close()
    assert [worker.wait(120) for worker in workers] == [0, 0, 0]
    known = json.loads(registry_path().read_text())["materials"]
    assert set(known) == {f"{name}-{n}" for name in "abc" for n in range(0, 12, 2)}
    assert sorted(p.name for p in registry_path().parent.iterdir()) == [
        "materials.json",
        "materials.json.lock",
    ]


def test_unregistering_what_is_unknown_names_what_is_known(home):
    register_file("notes.jsonl", "notes")
    with pytest.raises(ValueError, match=r"'other' is not in .*materials.json; it holds notes"):
        unregister("other")


def test_the_registry_lies_where_platformdirs_would_put_it(monkeypatch):
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.delenv(VARIABLE, raising=False)
    for given in (None, "/some/config"):
        if given:
            monkeypatch.setenv("XDG_CONFIG_HOME", given)
        else:
            monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        folder = platformdirs.user_config_dir("memenvs", appauthor=False)
        assert registry_path() == Path(folder) / "materials.json"


@pytest.fixture
def package(home, monkeypatch):
    """An installed package that ships materials, and leaves a trace when it is imported."""
    site = home / "site"
    (site / "shipped-1.0.dist-info").mkdir(parents=True)
    (site / "shipped-1.0.dist-info" / "METADATA").write_text("Name: shipped\nVersion: 1.0\n")
    (site / "shipped-1.0.dist-info" / "entry_points.txt").write_text(
        "[memenvs.materials]\n"
        "notes = shipped:notes\n"
        "absent = shipped.nowhere:notes\n"
        "odyssey = shipped:notes\n"
    )
    (site / "shipped.py").write_text(
        "import pathlib\n"
        "from memenvs.materials.odyssey import odyssey as notes\n"
        "pathlib.Path('imported').touch()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    return home


def test_packages_ship_materials_that_are_imported_when_they_are_made(package):
    imported = elsewhere(IMPORT)
    assert imported.returncode == 0
    told = "the material 'odyssey' of shipped is left out: 'odyssey' is registered already"
    assert imported.stderr.startswith(told)  # the built-in one stays
    assert not (package / "imported").exists()
    assert elsewhere(SHAPE).stdout.split() == ["1", "odyssey"]
    assert (package / "imported").exists()
    missing = elsewhere(SHAPE.replace("notes", "absent")).stderr.splitlines()[-1]
    assert "'shipped.nowhere:notes' cannot be imported" in missing


def test_the_import_stays_light(home):
    register_file("notes.jsonl", "notes")
    run = elsewhere(
        "import sys, memenvs\n"
        "heavy = {'pydantic', 'yaml', 'platformdirs', 'scipy', 'torch'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    assert run.returncode == 0, run.stderr
