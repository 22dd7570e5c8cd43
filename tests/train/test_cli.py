"""The command line: every command at work."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import memenvs
from commands import answer, memenvs_cli
from memenvs.materials.odyssey import odyssey, odyssey_noisy


@pytest.fixture
def pair(tmp_path: Path) -> str:
    """A file of two materials."""
    memenvs.save_materials([odyssey(), odyssey_noisy()], tmp_path / "pair.jsonl")
    return str(tmp_path / "pair.jsonl")


def test_envs() -> None:
    rows = answer("envs")
    assert {row["id"] for row in rows} >= {"memenvs/Odyssey-v0", "memenvs/OdysseyNoisy-v0"}
    assert set(rows[0]) == {"id", "level", "material", "capacity", "tags"}
    assert "memenvs/OdysseyComposite-v0" in memenvs_cli("envs").stdout


def test_check(pair: str) -> None:
    first, second = answer("check", pair)
    assert first == {
        "material": "odyssey",
        "claims": 6,
        "items": 9,
        "queries": 8,
        "decomposable": True,
        "monotone": True,
        "false_claims": 0,
        "uncertain_claims": 0,
        "embedding": 0,
    }
    assert second["false_claims"] == 1
    lines = memenvs_cli("check", pair).stdout.splitlines()
    assert lines[1].startswith("odyssey-noisy: 7 claims, 1 false; 12 items; 8 queries")


def test_frontier_of_a_name() -> None:
    found = answer("frontier", "odyssey-noisy")
    assert found["objective"] == "coverage"
    assert found["capacities"] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert found["values"][:3] == pytest.approx([0, 0.45, 0.80])
    assert found["memories"][2] == ["e3", "f1"]
    assert len({len(found[k]) for k in found if k not in ("material", "objective")}) == 1
    assert "e1 e3" in memenvs_cli("frontier", "odyssey").stdout


def test_the_frontier_of_a_memory_that_is_read_in_part():
    limited = ("--objective", "precision", "--reader", "similarity:1", "--capacity", "4")
    found = answer("frontier", "odyssey-noisy", *limited)
    assert found["objective"] == "precision similarity:1"
    assert found["values"] == pytest.approx([0.60])
    assert found["optimal"] == [True]


def test_frontier_of_a_file(pair: str) -> None:
    arguments = ("frontier", pair, "--objective", "precision", "--capacity", "2")
    found = answer(*arguments, "--capacity", "1")
    assert [each["material"] for each in found] == ["odyssey", "odyssey-noisy"]
    assert found[1]["capacities"] == [2, 1]
    assert found[1]["values"] == pytest.approx([0.60, 0.35])
    assert found[1]["optimal"] == [True, True]
    for method in ("greedy", "bound"):
        for each in answer(*arguments, "--method", method):
            assert each["values"][0] <= 0.6 + 1e-9 <= each["upper_bounds"][0] + 2e-9


def test_compare_has_the_fields_that_were_agreed() -> None:
    found = answer(
        "compare", "--material", "odyssey", "--capacity", "4", "--policy", "fifo", "--policy",
        "optimal", "--episodes", "2",
    )  # fmt: skip
    assert set(found) == {"rows", "summary"}
    fifo, optimal = found["rows"]
    assert [fifo["policy"], optimal["policy"]] == ["fifo", "optimal"]
    for row in found["rows"]:
        assert {
            "policy", "material", "capacity", "size", "coverage", "precision", "water_inflation",
            "settled", "frontier", "frontier_at_capacity", "efficiency_loss",
        } <= set(row)  # fmt: skip
    assert math.isclose(fifo["efficiency_loss"], 0.25, abs_tol=1e-9)
    for record in found["summary"]:
        assert {"policy", "capacity", "precision", "low", "high", "privileged"} <= set(record)
    assert [record["privileged"] for record in found["summary"]] == [False, True]


def test_compare_plays_an_environment_by_its_own_arguments() -> None:
    found = answer("compare", "--env", "memenvs/OdysseyNoisy-v0", "--policy", "random")
    (row,) = found["rows"]
    assert (row["material"], row["capacity"]) == ("odyssey-noisy", 3)
    assert row["episodes"] == 20


def test_compare_reads_a_configuration(tmp_path: Path, pair: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"material: {pair}\ncapacity: [1, 2]\npolicy: fifo\n")
    found = answer("compare", str(tmp_path / "mine.yaml"))
    assert [(r["material"], r["capacity"]) for r in found["rows"]] == [
        ("odyssey", 1),
        ("odyssey-noisy", 1),
        ("odyssey", 2),
        ("odyssey-noisy", 2),
    ]


def test_compare_prints_tables_within_a_hundred_columns() -> None:
    result = memenvs_cli("compare", "demo", "--episodes", "2")
    assert result.exit_code == 0
    assert result.stderr == ""  # no progress bar where there is no terminal
    assert all(f"S = {capacity}" in result.stdout for capacity in range(1, 7))
    assert max(len(line) for line in result.stdout.splitlines()) <= 100
    (optimal, *_) = (line for line in result.stdout.splitlines() if line.startswith("optimal*"))
    assert ".350 [.350 .350]" in optimal


def test_compare_writes_tables_and_plots(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    found = answer("compare", "--material", "odyssey", "--episodes", "2", "--out", str(out))
    assert {path.name for path in out.iterdir()} == {
        "scores.csv",
        "scores.json",
        "rows.csv",
        "summary.csv",
        "comparison.json",
        "frontier.png",
        "frontier.pdf",
    }
    assert json.loads((out / "comparison.json").read_text()) == found
    header, *lines = (out / "summary.csv").read_text().splitlines()
    assert len(lines) == len(found["summary"])
    assert {"precision_low", "coverage_high", "interval_over"} <= set(header.split(","))


def test_convert(tmp_path: Path) -> None:
    conversation = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a grey cat."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Lovely! I moved to Oslo."},
            ],
        },
        "qa": [
            {"question": "Who has a cat?", "answer": "Ann", "evidence": ["D1:1"], "category": 4},
            {"question": "Lost?", "answer": "x", "evidence": ["D9:9"], "category": 1},
        ],
    }
    source, out = tmp_path / "locomo.json", tmp_path / "out.jsonl"
    source.write_text(json.dumps([conversation]))
    arguments = ("convert", "locomo", str(source), str(out))

    refused = memenvs_cli(*arguments, "--strict")
    assert refused.exit_code == 2
    assert "--strict" in refused.stderr
    assert not out.exists()

    result = memenvs_cli(*arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "left out: 1 x" in result.stderr
    (found,) = answer("check", str(out))
    assert (found["claims"], found["queries"], found["embedding"]) == (2, 1, 0)

    pytest.importorskip("sklearn")
    assert memenvs_cli(*arguments, "--embed", "3", "--fit-on", str(out)).exit_code == 0
    (found,) = answer("check", str(out))
    assert found["embedding"] == 3
    assert (tmp_path / "out.jsonl.encoder.npz").exists()


def test_convert_leaves_nothing_half_done(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    tree = {
        "id": "t",
        "context": "sent1: a stone is hard sent2: a hard thing can scratch",
        "hypothesis": "a stone can scratch",
        "proof": "sent1 & sent2 -> hypothesis;",
        "answer": "scratch",
        "question": "What can a stone do?",
        "meta": {
            "triples": {"sent1": "a stone is hard", "sent2": "a hard thing can scratch"},
            "intermediate_conclusions": {},
            "step_proof": "sent1 & sent2 -> hypothesis;",
        },
        "depth_of_proof": 1,
        "length_of_proof": 1,
    }
    source, out = tmp_path / "bank.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps(tree) + "\n")
    (tmp_path / "out.jsonl.encoder.npz").mkdir()  # the encoder cannot be written
    arguments = ("convert", "entailment-bank", str(source), str(out), "--trees", "3")
    result = memenvs_cli(*arguments, "--embed", "2")
    assert result.exit_code == 2, result.stderr
    assert not out.exists()
    assert memenvs_cli(*arguments).exit_code == 0
    assert out.exists()


def test_listing_environments_loads_no_engine() -> None:
    program = (
        "import sys; from click.testing import CliRunner; from memenvs.train.cli import main; "
        "assert CliRunner().invoke(main, ['envs']).exit_code == 0; print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "memenvs.train.terminal" in loaded
    for engine in ("compare", "play", "places", "optima", "tables"):
        assert f"memenvs.train.{engine}" not in loaded
    assert not {"memenvs.policies", "torch", "scipy"} & loaded
