"""The package as it is installed: what it holds, what importing it costs, what a wheel can do."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINKED = ("configs", "policies", "train", "wrappers")  # folders of the root, linked in memenvs/
HEAVY = ["torch", "stable_baselines3", "sklearn", "matplotlib", "selenium", "numba", "ray"]
HEAVY += ["scipy", "highspy", "pydantic", "click", "rich", "pettingzoo"]


def packages():
    """Name every folder of Python files as it is imported."""
    folders = {"memenvs": "memenvs", **{f"memenvs.{name}": name for name in LINKED}}
    found = set()
    for name, folder in folders.items():
        for file in (ROOT / folder).rglob("*.py"):
            parts = file.parent.relative_to(ROOT / folder).parts
            found.add(".".join((name, *parts)))
    return sorted(found)


def test_every_folder_is_a_package():
    for name in packages():
        assert (ROOT / Path(*name.split(".")) / "__init__.py").is_file(), name


def test_nobody_imports_a_linked_folder_by_its_own_name():
    for folder in ("memenvs", *LINKED, "tests"):
        for file in (ROOT / folder).rglob("*.py"):
            for line in file.read_text().splitlines():
                words = line.split()
                if words[:1] in (["import"], ["from"]):
                    assert words[1].split(".")[0] not in LINKED, f"{file}: {line}"


def test_importing_needs_numpy_and_gymnasium_alone():
    script = f"import sys, memenvs; print([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def wheel_target(tmp_path_factory):
    """Install the package as users get it, from a wheel, into a folder of its own."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--no-build-isolation", "--target", str(target), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


def test_a_wheel_works_outside_the_checkout(wheel_target, tmp_path):
    names = packages()
    script = (
        "import sys, importlib\n"
        f"sys.path.insert(0, {str(wheel_target)!r})\n"
        "sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]\n"
        f"for name in {names!r}:\n"
        "    module = importlib.import_module(name)\n"
        f"    assert module.__file__.startswith({str(wheel_target)!r}), module.__file__\n"
        "import gymnasium as gym, memenvs.policies\n"
        "env = gym.make('memenvs/Odyssey-v0')\n"
        "observation, _ = env.reset(seed=0)\n"
        "print(memenvs.policies.make('optimal', env).predict(observation)[0])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 0


def test_a_wheel_ships_types_and_configurations_and_no_data(wheel_target):
    assert (wheel_target / "memenvs" / "py.typed").exists()
    shipped = {path.name for path in (wheel_target / "memenvs" / "configs").glob("*.yaml")}
    assert shipped == {path.name for path in (ROOT / "configs").glob("*.yaml")}
    # No data: the weights of our own policy, and at most pip's direct_url.json.
    held = {path.name for path in wheel_target.rglob("*.json*")}
    assert {"pretrained.json"} <= held <= {"pretrained.json", "direct_url.json"}
    assert not (wheel_target / "tests").exists()
    assert not (wheel_target / "policies").exists()
