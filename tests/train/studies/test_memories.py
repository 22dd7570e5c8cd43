"""`memenvs memories`: the page has every part, and own readers read what a memory itself holds."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies import POLICIES, make, policy_class
from memenvs.train.cli import main
from memenvs.train.places import Instance
from memenvs.train.play import play_one
from memenvs.train.studies import memories, scenarios
from memenvs.train.units import Unit
from memories import AXES, told


def test_a_memory_holds_less_than_its_slots():
    material = told(AXES[:6])
    env = MemorizationEnv(material, capacity=5)
    unit = Unit(Instance(material.name, material), 0, seed=0)
    assert np.flatnonzero(play_one(env, make("letta", env), unit).own).tolist() == [2, 3, 4, 5]
    assert np.flatnonzero(env.memory).tolist() == [1, 2, 3, 4, 5]
    assert play_one(env, make("fifo", env), unit).own.sum() == 5


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The whole table takes minutes: fewer policies and sections.
    monkeypatch.setattr(memories, "SIMPLE", ("fifo",))
    monkeypatch.setattr(memories, "TODAY", ("letta", "mem0:legacy"))
    few = partial(scenarios.run_scenarios, ("fifo",), episodes=1)
    monkeypatch.setattr(scenarios, "run_scenarios", few)
    short = [replace(section, more=("optimal",)) for section in memories.SECTIONS]
    monkeypatch.setattr(memories, "SECTIONS", short)
    out = tmp_path / "memories.md"
    asked = ["Odyssey", "Tier readable", "LoCoMo"]
    options = [word for title in asked for word in ("--section", title)]
    command = ["memories", "--out", str(out), "--materials", "2", *options]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    page = out.read_text()
    for part in ("## Constants", "scenario-bridge", "### Odyssey", "### Tier readable"):
        assert part in page
    assert "Not played, as no file was given: LoCoMo." in page
    # First in, first out keeps the last three of six events, worth .2 + .05 + .05; Letta flushed
    # the third and the fourth when the sixth came, and reads the last two.
    table = page.split("### Odyssey")[1].split("### ")[0]
    rows = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    assert "| .300 [.300, .300] |" in rows["fifo"]
    assert rows["letta"].startswith("| `letta` | .300 [.300, .300] |")
    assert rows["letta"].endswith("| .100 [.100, .100] |")
    assert rows["optimal"].startswith("| `optimal`* | .800")


def test_the_tables_tell_of_the_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENVS_JUDGE_URL", "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setattr(memories, "SIMPLE", ())
    monkeypatch.setattr(memories, "TODAY", ("generative-agents",))
    section = replace(memories.SECTIONS[0], more=())
    assert memories.run_section(section, files=(), materials=2).readings
    assert scenarios.run_scenarios(("generative-agents",), episodes=1)
    policy: Any = make("generative-agents", MemorizationEnv("odyssey", capacity=2))
    assert policy.judge.url == "http://127.0.0.1:9/chat/completions"  # elsewhere it is asked


def test_every_section_names_what_there_is() -> None:
    for section in memories.SECTIONS:
        for name in section.policies:
            assert policy_class(name)
    played = {name.partition(":")[0] for section in memories.SECTIONS for name in section.policies}
    # What is learned from settlements alone, or from texts, is compared on a page of its own; so is
    # what is made for a reader of a part of the memory.
    elsewhere = {"clairvoyant", "optimal-course", "greedy", "estimator", "estimator-ranker"}
    elsewhere |= {"bayes-reader", "reader-estimator"}
    assert played >= set(POLICIES) - elsewhere


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    out = str(tmp_path / "page.md")
    result = CliRunner().invoke(main, ["memories", "--out", out, "--section", "Iliad"])
    assert result.exit_code == 2
    assert "no section is titled 'Iliad'; choose from Odyssey" in result.stderr
    result = CliRunner().invoke(main, ["memories", "--out", out, "--locomo", str(tmp_path / "no")])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
