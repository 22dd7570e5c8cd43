"""The frozen protocol: it does not change, its numbers are the comparison's, its file is whole."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

import own_policies
from commands import answer, memenvs_cli
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.materials.generator.tiers import TIERS
from memenvs.optimal.curve import frontier
from memenvs.policies import make
from memenvs.train.benchmark.curves import curve_records, training_records
from memenvs.train.benchmark.protocol import PROTOCOLS, V1, Curve, Part
from memenvs.train.benchmark.run import digest, run_benchmark
from memenvs.train.compare import compare
from memenvs.train.experiment import load_experiment
from memenvs.train.units import episode_seed
from samples import asked, sample, turn, write_locomo
from saved_models import train

# A changed protocol gets a new name; these never change.
FROZEN = {"v1": "de4b95a5d14d2cb2524949c7f099e6ff2effc4b1d1b0beb2989285a67626c0b9"}
FEW = replace(
    V1,
    parts=(
        Part("readable", {"material": ["readable"], "split": "test", "materials": 3}),
        Part("level-1b", {"env": "memenvs/OdysseyDisclosed-v0", "episodes": 4}),
        Part("locomo", {"capacity": [2], "episodes": 1}, "locomo"),
    ),
    curves=(Curve("readable", 6, (None, 8, 1)),),
)


def test_a_protocol_never_changes():
    assert {name: protocol.digest for name, protocol in PROTOCOLS.items()} == FROZEN


def test_every_part_of_a_protocol_can_be_played():
    for part in V1.parts:
        settings = {**part.settings, **({"material": ["odyssey"]} if part.data else {})}
        assert load_experiment(None, settings)
        assert settings.get("split", "test") in ("test", "ood")
    assert all(curve.tier in TIERS for curve in V1.curves)
    assert V1.split == "test"


@pytest.fixture(scope="module")
def results():
    return run_benchmark(FEW, ["fifo", "trust"])


def test_its_numbers_are_those_of_the_comparison(results):
    (readable, level) = results["parts"]
    found = compare(
        load_experiment(
            None,
            {"material": ["readable"], "materials": 3, "policy": ["fifo", "trust"]}
            | {"baseline": "trust", "split": "test"},
        )
    )
    for record, summary in zip(readable["summary"], found.summary, strict=True):
        assert record.items() <= summary.items()
        assert {"precision", "low", "high", "iqm", "improvement", "share"} <= record.keys()
    (fifo, _) = readable["precision"]
    assert fifo["values"] == [r["precision"] for r in found.rows if r["policy"] == "fifo"]
    assert readable["materials"]["names"] == [f"readable-test-{place}" for place in range(3)]
    assert level["summary"][0]["episodes"] == 4


def test_what_was_left_out_is_said(results):
    assert results["left_out"] == {"locomo": "no data: give --locomo FILE"}
    assert results["protocol_digest"] == FEW.digest
    assert {"python", "numpy", "memenvs"} <= results["versions"].keys()


def test_data_that_is_given_is_played(tmp_path):
    talk = sample(
        asked("D1:1"), asked("D1:3"), session_1=[turn(f"D1:{n}", f"Line {n}.") for n in range(1, 6)]
    )
    file = write_locomo(tmp_path, [talk])
    found = run_benchmark(FEW, ["fifo"], files={"locomo": str(file)}, parts=["locomo"])
    assert found["left_out"] == dict.fromkeys(["readable", "level-1b", "curves"], "not asked for")
    (part,) = found["parts"]
    assert part["summary"][0]["capacity"] == 2


def test_who_does_not_fit_a_part_is_left_out_of_it_alone(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, "readable", network="pointer", every=4, capacity=6)
    model = str(tmp_path)
    few = replace(FEW, curves=(Curve("readable", 2, (1,)),))
    found = run_benchmark(few, ["fifo", model], parts=["readable", "level-1b", "curves"])
    played = {part["part"]: [row["policy"] for row in part["summary"]] for part in found["parts"]}
    assert played == {"readable": ["fifo", model], "level-1b": ["fifo"]}
    assert [record["policy"] for record in found["curves"]] == ["fifo", model]
    ((part, policy, reason),) = (refused.values() for refused in found["refused"])
    assert (part, policy) == ("level-1b", model)
    assert "was trained on other columns than this environment shows" in reason
    alone = run_benchmark(FEW, [model], parts=["level-1b"])
    assert alone["left_out"]["level-1b"] == "no policy fits it"
    assert alone["parts"] == []


def test_results_are_kept_after_each_part():
    seen = []

    def save(document):
        seen.append((len(document["parts"]), len(document["curves"]), dict(document["left_out"])))

    done = run_benchmark(FEW, ["fifo"], save=save)
    assert [(parts, curves) for parts, curves, _ in seen] == [(1, 0), (2, 0), (2, 3), (2, 3)]
    assert seen[0][2] == dict.fromkeys(["level-1b", "locomo", "curves"], "not played yet")
    assert seen[-1][2] == done["left_out"] == {"locomo": "no data: give --locomo FILE"}


def test_a_digest_is_of_the_content():
    one, two = TIERS["readable"].split("test")[:2]
    assert digest([one]) == digest([TIERS["readable"].split("test")[0]])
    assert len({digest([one]), digest([two]), digest([one, two]), digest([two, one])}) == 4
    assert digest([replace(one, name="other")]) != digest([one])
    assert digest([]) == hashlib.sha256(b"").hexdigest()


def test_a_curve_is_the_share_that_each_number_of_settlements_leads_to():
    records = curve_records(FEW, FEW.curves[0], ["fifo", "trust"])
    assert [(r["policy"], r["settled"]) for r in records] == [
        (policy, settled) for policy in ("fifo", "trust") for settled in (0, 3, 31)
    ]
    assert len({r["share"] for r in records if r["policy"] == "fifo"}) == 1  # it learns nothing
    materials = list(TIERS["readable"].split("test")[:6])
    env = MemorizationEnv(materials, **{**TIERS["readable"].preset, "every": 1})
    shares = []
    for material in materials:
        seed = episode_seed(0, material.name, 0)
        observation, _ = env.reset(seed=seed, options={"material": material})
        policy, state, over = make("trust", env), None, False
        while not over:
            action, state = policy.predict(observation, state)
            observation, _, over, _, info = env.step(action)
        shares.append(info["precision"] / frontier(material, "precision", [6]).values[0])
    (last,) = (r for r in records if (r["policy"], r["settled"]) == ("trust", 31))
    assert last["share"] == pytest.approx(np.mean(shares))
    assert last["low"] < last["share"] < last["high"]


def test_the_curve_of_a_training_counts_what_was_settled(tmp_path):
    path = tmp_path / "best_model.zip"
    train(path, "readable", every=4, capacity=6)
    path.with_name("metrics.csv").write_text(
        "steps,validation_share\n0,\n3200,0.5\n6400,0.75\n", encoding="utf-8"
    )
    (record,) = training_records(["fifo", str(tmp_path)])
    # 32 claims: after 4, 8, ... 28 decisions one query each, and 15 at the end
    settled = [round(3200 / 32 * 22), round(6400 / 32 * 22)]
    assert record == {
        "policy": str(tmp_path),
        "seed": 0,
        "points": [
            {"steps": 3200, "settled": settled[0], "share": 0.5},
            {"steps": 6400, "settled": settled[1], "share": 0.75},
        ],
    }


def test_the_command_writes_whole_results(tmp_path):
    out = tmp_path / "results.json"
    found = answer("benchmark", "--policy", "fifo", "--part", "level-1b-odyssey", "--out", str(out))
    stored = json.loads(out.read_text())
    assert stored == found
    assert stored["protocol"] == "v1"
    assert stored["protocol_digest"] == V1.digest
    assert [part["part"] for part in stored["parts"]] == ["level-1b-odyssey"]
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--policy", "fifo", "--protocol", "v0"], "no protocol is named 'v0'; choose from v1"),
        (["--policy", "fifo", "--part", "x"], "has no part 'x'; choose from readable"),
        (["--policy", "fofi", "--part", "level-1b-odyssey"], "no policy is named 'fofi'"),
        (["--policy", "fifo", "--out", "none/results.json"], "there is no folder 'none'"),
        (["--policy", "fifo", "--locomo", "none.json"], "none.json"),
    ],
)
def test_bad_input_is_one_line(arguments, words):
    result = memenvs_cli("benchmark", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_policy_that_fails_is_reported_and_costs_its_own_row(tmp_path, monkeypatch):
    own_policies.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    few = {"v1": replace(FEW, parts=FEW.parts[1:2])}
    monkeypatch.setattr("memenvs.train.benchmark.protocol.PROTOCOLS", few)
    arguments = ["benchmark", "--policy", "own.py:broken", "--policy", "fifo"]
    result = memenvs_cli(*arguments, "--part", "level-1b", "--json")
    assert result.exit_code == 1
    assert "level-1b: own.py:broken at S = 3 failed in 4 episodes" in result.stderr
    assert "RuntimeError: no memory left" in result.stderr
    document = json.loads(result.stdout)
    assert [row["episode"] for row in document["failed"]] == [0, 1, 2, 3]
    (part,) = document["parts"]
    assert [len(each["values"]) for each in part["precision"] if each["policy"] == "fifo"] == [1]
