"""A model of the README's loop, a rule, a function and a network: compared, benchmarked, used."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import sb3_contrib
from click.testing import CliRunner
from gymnasium import spaces

import own_policies
from commands import answer, memenvs_cli
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.rules import Actions
from memenvs.policies import WriteMemory, make
from memenvs.policies.adapters import check_space
from memenvs.policies.opponents.askers import ASKERS
from memenvs.train.benchmark.protocol import V1, Part
from memenvs.train.benchmark.run import run_benchmark
from memenvs.train.cli import main
from memenvs.train.compare import compare
from memenvs.train.experiment import Experiment
from memenvs.train.units import episode_seed
from own_policies import last, readme_model

NAMES = ("x.zip", "own.py:Trusted", "own:last", "own.py:Net")
KNOWN = {"x.zip": None, "own.py:Trusted": False, "own:last": False, "own.py:Net": None}
CUES = ("importance", "style")  # of the materials of tiers


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    own_policies.write(folder)
    readme_model(folder / "x.zip")
    return folder


@pytest.fixture(autouse=True)
def _here(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("own", None)


def test_all_are_compared_by_their_names():
    options = [word for name in NAMES for word in ("--policy", name)]
    found = answer("compare", "--env", "memenvs/Readable-v0", "--materials", "3", *options)
    assert [record["policy"] for record in found["summary"]] == list(NAMES)
    for record in found["summary"]:
        assert record["seen"] is KNOWN[record["policy"]]
        assert ("not known" in record["remark"]) == (record["seen"] is None)
        assert record["illegal"] == 0
    given = {"function": last, "net": make("own.py:Net", gym.make("memenvs/Readable-v0")).inner}
    given |= {"rule": sys.modules[f"own@{own_policies.Path.cwd()}"].Trusted}
    same = compare(Experiment(env="memenvs/Readable-v0", materials=3), given)
    by_name = {record["policy"]: record["precision"] for record in found["summary"]}
    for name, own in {
        "function": "own:last",
        "net": "own.py:Net",
        "rule": "own.py:Trusted",
    }.items():
        (record,) = [each for each in same.summary if each["policy"] == name]
        assert record["precision"] == by_name[own]


def test_its_figures_are_those_of_an_episode_played_by_hand():
    env = MemorizationEnv("readable", split="test")
    found = compare(Experiment(env="memenvs/Readable-v0", materials=1, episodes=1), {"mine": last})
    material = env.materials.fixed[0]
    _, info = env.reset(seed=episode_seed(0, material.name, 0), options={"material": material})
    over = False
    while not over:
        action = int(np.flatnonzero(info["action_mask"])[-1])
        _, _, over, _, info = env.step(action)
    assert found.rows[0]["precision"] == info["precision"]


def test_all_are_benchmarked():
    few = replace(
        V1,
        parts=(
            Part("readable", {"material": ["readable"], "split": "test", "materials": 2}),
            Part("level-1b", {"env": "memenvs/OdysseyDisclosed-v0", "episodes": 2}),
        ),
        curves=(),
    )
    document = run_benchmark(few, NAMES)
    summary = {record["policy"]: record for record in document["parts"][0]["summary"]}
    assert {name: record["seen"] for name, record in summary.items()} == KNOWN
    refused = {each["policy"]: each["reason"] for each in document["refused"]}
    assert set(refused) == {"x.zip"}  # the Odyssey is of other sizes; the network is built for it
    assert "this environment has shape" in refused["x.zip"]
    own = run_benchmark(few, {"mine": last}, parts=["readable"])
    (record,) = own["parts"][0]["summary"]
    assert record["policy"] == "mine"
    assert record["precision"] == summary["own:last"]["precision"]


@pytest.mark.parametrize("name", [*NAMES, "function", "model"])
def test_all_serve_a_memory(name, place, tmp_path):
    model = stable_baselines3_model(place) if name == "model" else None
    given = {"function": last, "model": model}.get(name, name)
    memory = WriteMemory(given, 6, claims=32, cues=CUES)
    vectors = np.random.default_rng(0).normal(size=(12, _width(memory))).tolist()
    play = make(given, MemorySpaces(memory))
    for number, vector in enumerate(vectors):
        before = [entry.number for entry in memory.contents()]
        cues = {"importance": number / 12, "style": 0.5}
        memory.add(f"claim {number}", "Ann", cues=cues, embedding=vector)
        after = [entry.number for entry in memory.contents()]
        assert set(after) - set(before) <= {number}
        assert len(after) <= 6
        action, _ = play.predict(memory.observation())
        assert memory.observation()["action_mask"][action]
    file = tmp_path / "notes.mem"
    memory.save(file)
    other = WriteMemory.load(file, policy=given)
    for each in (memory, other):
        each.add("the last one", "Bob", cues=dict.fromkeys(CUES, 0.5), embedding=vectors[0])
    assert other.contents() == memory.contents()
    with pytest.raises(ValueError, match="which a file must not choose; give policy="):
        WriteMemory.load(file)


class MemorySpaces:
    """The spaces that a memory shows, as an environment has them."""

    def __init__(self, memory):
        seen = memory.observation()
        shapes = {name: spaces.Box(-np.inf, np.inf, a.shape) for name, a in seen.items()}
        self.observation_space = spaces.Dict(shapes)
        self.action_space = spaces.Discrete(len(seen["action_mask"]))
        self.layout, self.rules = memory._layout, memory._live.rules
        self.actions = Actions(self.rules.capacity, self.rules.clears, 0)


def stable_baselines3_model(place):
    return sb3_contrib.MaskablePPO.load(place / "x.zip", device="cpu")


def _width(memory):
    return memory.observation()["queries"].shape[1] - 4


def test_a_memory_is_shown_what_a_model_was_trained_on():
    with pytest.raises(ValueError, match=r"trained on claims with 2 cues, and 0 are named"):
        WriteMemory("x.zip", 6)
    with pytest.raises(ValueError, match=r"'memory' is of shape \(6, 39\)"):
        WriteMemory("x.zip", 5, cues=CUES)
    memory = WriteMemory("x.zip", 6, cues=CUES)
    with pytest.raises(ValueError, match="vectors of 16 numbers"):
        memory.add("no vector")


def test_a_configuration_names_no_code(tmp_path):
    (tmp_path / "shared.yaml").write_text("env: memenvs/Readable-v0\npolicy: own.py:last\n")
    run = CliRunner().invoke(main, ["compare", str(tmp_path / "shared.yaml")])
    assert run.exit_code == 2
    assert "key 'policy': 'own.py:last' names code to run, which a file may not" in run.output


def test_an_opponent_of_ones_own_plays(tmp_path):
    kind = next(iter(ASKERS.values()))
    (tmp_path / "asking.py").write_text(
        f"from {kind.__module__} import {kind.__name__} as Mine\n"
        "def function(observation, mask): return 0\n"
    )
    options = ["--game", "asker-writer", "--material", "readable", "--materials", "2"]
    options += ["--policy", "fifo", "--opponent"]
    own = answer("compare", *options, f"{tmp_path}/asking.py:Mine")["rows"]
    scripted = answer("compare", *options, next(iter(ASKERS)))["rows"]
    assert [row["precision"] for row in own] == [row["precision"] for row in scripted]
    run = CliRunner().invoke(main, ["compare", *options, f"{tmp_path}/asking.py:function"])
    assert run.exit_code == 2
    assert "is no class that derives from Policy" in run.output


def test_json_of_an_unknown_past_is_null():
    options = ["--env", "memenvs/Readable-v0", "--materials", "1", "--episodes", "1"]
    (record,) = answer("compare", *options, "--policy", "x.zip")["summary"]
    assert record["seen"] is None


def test_a_line_on_a_policy_names_a_capacity_only_where_there_is_one():
    arguments = ["compare", "--env", "CartPole-v1", "--episodes", "2", "--policy"]
    asked = memenvs_cli(*arguments, "own.py:Guess")
    assert "own.py:Guess: what it was fitted to is not known." in asked.stdout
    failed = memenvs_cli(*arguments, "own.py:broken")
    assert failed.exit_code == 1
    assert "own.py:broken failed in 2 episodes, first in episode 0" in failed.stderr


def test_a_model_of_one_array_is_refused_where_a_dictionary_is_seen():
    shown = gym.make("memenvs/Readable-v0").observation_space
    with pytest.raises(ValueError, match=r"shape \(4,\), .* a dictionary of action_mask, claim"):
        check_space("m", "observation", spaces.Box(0, 1, (4,)), shown)


def test_an_environment_of_a_module_in_the_working_directory(tmp_path: Path) -> None:
    """MODULE:ID is imported by every command, and by ``python -m memenvs`` too."""
    lines = [
        "import gymnasium, own_envs",
        "gymnasium.register('here/Corridor-v0', own_envs.Corridor)",
    ]
    (tmp_path / "corridors_here.py").write_text("\n".join(lines))
    support = Path(__file__).parents[1] / "support"
    environment = {**os.environ, "PYTHONPATH": str(support)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "memenvs", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, input=""
        )

    compared = run("compare", "--env", "corridors_here:here/Corridor-v0", "--materials=1", "--json")
    assert compared.returncode == 0, compared.stderr
    assert json.loads(compared.stdout)["rows"]
    assert "stopped after 0 actions" in run("play", "corridors_here:here/Corridor-v0").stdout
    refused = run("play", "nowhere:here/Corridor-v0")
    assert refused.returncode == 2
    assert "the module cannot be imported: No module named 'nowhere'" in refused.stderr
