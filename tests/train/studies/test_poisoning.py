"""The metrics by hand, memories on a tiny scenario, and the command."""

import json
from dataclasses import replace

import numpy as np
import pytest

from commands import memenvs_cli
from memenvs.envs.poisoning.rounds import Rounds
from memenvs.materials.poisoning import scenario_set
from memenvs.materials.poisoning.records import SOURCES
from memenvs.policies.poisoning import CONTEXT_POLICIES, source_trust
from memenvs.policies.weighted_tree import Constants
from memenvs.train.learn.run import train
from memenvs.train.learn.settings import load_training
from memenvs.train.studies.poisoning import comparison as poisoning
from memenvs.train.studies.poisoning.choose import choose_contexts
from memenvs.train.studies.poisoning.comparison import Ordering, Result, run_poisoning
from memenvs.train.studies.poisoning.counts import Chosen, Count, play, reasoner_key
from memenvs.train.studies.poisoning.metrics import METRICS, metrics
from memenvs.train.studies.poisoning.tree import TreeMemory
from poisoned import tiny
from trainings import small

KEY = np.uint64(5)
SCENARIOS = scenario_set("validation", 0)[:12]


def counted(**more):
    given = {
        "critical": [False, True, True],
        "owner": [0, 0, -1],
        "right": [False, True, False],
        "compromised": [True, False, True],
        "injected": [1, 0, 2],
        "contaminated": [1, 1, 2],
        "clean": [1, 2, 0],
        "warned": [True, True, True],
        "selected_tokens": [10, 20, 30],
        "candidate_tokens": [20, 20, 40],
        "prompt_tokens": [30, 40, 50],
        "latency": [1.0, 2.0, 3.0],
        "alive": [1.0, 0.5, float("nan")],
        "total": 2,
        "remaining": 1,
        "other_tokens": 30,
    }
    return Count(**{**given, **more})


SHORT = [
    "steps=64",
    "envs=4",
    "hyperparameters={n-steps: 16, batch-size: 32}",
    "evaluation={materials: 4, final: 4}",
]


def test_metrics_by_hand():
    found = metrics(counted(), counted(right=[True, True, True]))
    assert found == pytest.approx(
        {
            "attack_success_rate": 1 / 2,
            "poison_retrieval_rate": 3 / 6,
            "infection_persistence": 1 / 2,
            "blast_radius": 1.0,
            "amplification_factor": 3 / 2,
            "context_compression_ratio": (0.5 + 1 + 0.75) / 3,
            "task_success_rate": 1.0,
            "prompt_tokens": 40.0,
            "latency_ms": 2.0,
            "accuracy": 1 / 2,
            "accuracy_without_poison": 1.0,
            "final_success_rate": 0.0,
            "reward": 0.0,
            "priced_reward": -0.2 * 0.6 / 2,
            "persistence_over_time": 0.75,
            "contaminated_retrieval_rate": 4 / 7,
            "injected_blast_radius": 2 / 3,
            "warned_blast_radius": 1.0,
            "all_tokens": 50.0,
        }
    )
    assert set(found) == set(METRICS)


def test_a_subtask_succeeds_where_all_its_prompts_do():
    several = counted(
        critical=[True, True, True, True],
        owner=[0, 0, 1, -1],
        right=[True, False, True, False],
        compromised=[False, False, False, False],
    )
    assert metrics(several, several)["task_success_rate"] == 0.5  # the final step is no subtask


def test_a_ratio_of_nothing_is_undefined():
    empty = counted(injected=[0] * 3, contaminated=[0] * 3, clean=[0] * 3, total=0, remaining=0)
    found = metrics(empty, empty)
    assert np.isnan(found["poison_retrieval_rate"])
    assert np.isnan(found["infection_persistence"])


def test_means_are_over_scenarios_not_pooled():
    values = {"full": {name: np.array([0.1, 0.5, np.nan]) for name in METRICS}}
    (row,) = Result("test", 1, values).rows()
    assert row["poison_retrieval_rate"] == pytest.approx(0.3)
    assert row["intervals"]["poison_retrieval_rate"] == pytest.approx([0.1, 0.5])


def test_the_oracle_is_right_and_an_empty_context_gives_no_answer():
    oracle = choose_contexts("oracle", SCENARIOS)
    for place, scenario in enumerate(SCENARIOS):
        count = play(scenario, Chosen(scenario, oracle.contexts[place]), KEY)
        assert all(right for right, c in zip(count.right, count.critical, strict=True) if c)
        nothing = play(scenario, TreeMemory(scenario, "no-memory"), KEY)
        assert not any(nothing.right)
        assert not any(nothing.compromised)


@pytest.mark.parametrize("name", [name for name in CONTEXT_POLICIES if name != "logistic"])
def test_a_choice_is_played_as_the_environment_plays_it(name):
    choice = choose_contexts(name, SCENARIOS)
    rounds = Rounds("train", 120, 0.0, len(SCENARIOS))
    keys = np.array([reasoner_key(3, place) for place in range(len(SCENARIOS))])
    rounds.begin(np.arange(len(SCENARIOS)), keys, SCENARIOS)
    policy = CONTEXT_POLICIES[name](rounds)
    state = None
    while len(rows := np.flatnonzero(~rounds.is_over())):
        actions, state = policy.predict(rounds.observe(), state)
        rounds.step(rows, actions[rows])
    finals = rounds.finals(np.arange(len(SCENARIOS)))
    for place, scenario in enumerate(SCENARIOS):
        count = play(scenario, Chosen(scenario, choice.contexts[place]), keys[place])
        found = metrics(count, count)
        for ours, theirs in {
            "accuracy": "accuracy",
            "attack_success_rate": "attack_success_rate",
            "blast_radius": "blast_radius",
            "reward": "utility",
        }.items():
            assert found[ours] == pytest.approx(finals[theirs][place]), (name, scenario.name)


def test_a_tree_is_told_what_happens():
    scenario = tiny(official=True)
    memory = TreeMemory(scenario, "full", Constants(corroboration=1))
    count = play(scenario, memory, KEY)
    # The official success supersedes the false claim before it and the one after it.
    assert count.alive[:4] == [1.0, 0.0, 0.0, 0.0]
    assert (count.remaining, count.total) == (0, 2)
    linear = play(scenario, TreeMemory(scenario, "linear"), KEY)
    assert linear.remaining == 2
    assert linear.injected == [1, 1, 1, 2, 2]
    assert linear.selected_tokens[3] == sum(entry.tokens for entry in scenario.entries)
    a2 = play(scenario, TreeMemory(scenario, "a2"), KEY)
    assert a2.remaining == 2


@pytest.mark.parametrize("believed", ["blue", "red"])
def test_a_summary_carries_what_was_believed(believed):
    scenario = tiny()
    memory = TreeMemory(scenario, "a1")
    for event in scenario.events[:-2]:
        if event.happening != "prompt":
            memory.happen(event.happening, event.number, {})
    memory.happen("complete", 0, {0: believed})
    (line,) = memory.context(4).lines
    assert line.answers[0] == believed
    assert f"Result: {believed}" in line.text
    assert not line.injected
    # Its evidence are the truth and the aside, the latest successes; it warns of what failed.
    assert line.contaminated == (believed == "red")
    assert line.warned


def test_the_budget_bounds_what_is_selected():
    for scenario in SCENARIOS:
        memory = TreeMemory(scenario, "full", budget=60)
        count = play(scenario, memory, KEY)
        assert max(count.selected_tokens) <= 60


def test_the_noise_depends_on_seed_and_scenario_alone():
    keys = {int(reasoner_key(seed, place)) for seed in range(3) for place in range(100)}
    assert len(keys) == 300
    scenario = SCENARIOS[0]
    first, again = (play(scenario, TreeMemory(scenario, "full"), KEY) for _ in range(2))
    first.latency, again.latency = [], []
    assert first == again


def verdict(metric, better, worse, *, equal=False):
    rng = np.random.default_rng(0)
    values = {
        "x": {metric: better + 0.01 * rng.random(50)},
        "y": {metric: worse + 0.01 * rng.random(50)},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(poisoning, "ORDERINGS", (Ordering(metric, "x", "y", equal),))
        (found,) = Result("test", 1, values).orderings()
    return found["verdict"]


def test_orderings_are_judged_by_the_direction_of_the_metric():
    assert verdict("attack_success_rate", 0.2, 0.5) == "reproduces"
    assert verdict("attack_success_rate", 0.5, 0.2) == "contradicted"
    assert verdict("attack_success_rate", 0.5, 0.5) == "undecided"
    assert verdict("task_success_rate", 0.5, 0.2) == "reproduces"
    assert verdict("task_success_rate", 0.2, 0.5) == "contradicted"
    assert verdict("infection_persistence", 1.0, 1.0, equal=True) == "reproduces"
    assert verdict("infection_persistence", 0.5, 1.0, equal=True) == "contradicted"


def test_the_command_prints_one_object(monkeypatch, tmp_path):
    monkeypatch.setattr(poisoning, "scenario_set", lambda split, number: SCENARIOS)
    result = memenvs_cli(
        "poisoning",
        "--policy",
        "full",
        "--policy",
        "recent",
        "--seeds",
        "1",
        "--out",
        str(tmp_path),
    )
    assert result.exit_code == 0, result.output
    assert "retrieval" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {
        f"poisoning.{suffix}" for suffix in ("json", "md", "png", "pdf")
    }
    document = json.loads((tmp_path / "poisoning.json").read_text())
    assert [row["policy"] for row in document["rows"]] == ["full", "recent"]
    for row in document["rows"]:
        assert set(METRICS) <= set(row)
        assert row["intervals"]["accuracy"][0] <= row["accuracy"] <= row["intervals"]["accuracy"][1]
    gap = next(g for g in document["differences"] if g["metric"] == "accuracy")
    first, second = document["rows"]
    assert gap["difference"] == pytest.approx(second["accuracy"] - first["accuracy"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--policy", "nobody"], "'nobody' is no policy"),
        (["--split", "ood"], "split 'ood' is unknown"),
        (["--policy", __file__], "is no zip file"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments, problem):
    result = memenvs_cli("poisoning", *arguments)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("algorithm", ["maskable-ppo", "ppo"])
def test_a_run_is_a_policy(algorithm, tmp_path):
    training = load_training("poisoning", [*SHORT, f"algorithm={algorithm}"])
    train(training, tmp_path)
    choice = choose_contexts(str(tmp_path), SCENARIOS)
    again = choose_contexts(str(tmp_path), SCENARIOS)
    np.testing.assert_array_equal(choice.contexts, again.contexts)
    assert choice.contexts.any()


def test_a_model_of_another_environment_is_refused(tmp_path):
    train(small(steps=128, evaluation={"materials": 1, "final": 1}), tmp_path)
    with pytest.raises(ValueError, match="was trained in another environment than poisoning"):
        choose_contexts(str(tmp_path), SCENARIOS)


@pytest.mark.slow
def test_learning_beats_the_full_tree_on_held_out_scenarios(tmp_path):
    train(load_training("poisoning-priced"), tmp_path)
    name = str(tmp_path)
    result = run_poisoning([name, "full"], split="validation", seeds=2)
    gap = result.difference("priced_reward", name, "full")
    assert gap["low"] > 0


def picked(name, scenario):
    """Entries in the context of the last prompt of a scenario."""
    contexts = choose_contexts(name, [scenario]).contexts[0]
    return np.flatnonzero(contexts[len(scenario.prompts) - 1]).tolist()


def test_rules_by_hand():
    asked = tiny()
    red, blue, aside, green = asked.entries
    twice = replace(
        asked, entries=(red, blue, replace(green, value="red"), replace(blue, value="red"))
    )
    assert picked("vote", twice) in ([0], [2], [3])  # three say red
    trust = dict(zip(SOURCES, source_trust(), strict=True))
    official = replace(asked, entries=(red, replace(blue, source="official"), aside, green))
    assert trust["official"] > trust["news"]
    assert picked("trusted-source", official) == [1]
    short = choose_contexts("last-used", [asked], budget=red.tokens).contexts[0]
    # What the last prompt asks was recorded last in entry 3, and none of them was asked for later.
    assert np.flatnonzero(short[4]).tolist() == [3]


def test_an_attack_and_a_set_of_its_own(monkeypatch):
    monkeypatch.setattr(poisoning, "draw_set", lambda name, seed: SCENARIOS[:3])
    options = ["--policy", "full", "--seeds", "1", "--json", "--set-seed", "9"]
    plain = json.loads(memenvs_cli("study", "poisoning", *options).stdout)
    spoofed = json.loads(
        memenvs_cli("study", "poisoning", *options, "--attack", "late-spoof").stdout
    )
    assert (plain["attack"], plain["split"], plain["scenarios"]) == ("plain", "seed 9", 3)
    harm = [found["rows"][0]["attack_success_rate"] for found in (plain, spoofed)]
    assert harm[0] < harm[1]
    refused = memenvs_cli("study", "poisoning", *options, "--attack", "loud")
    assert refused.exit_code == 2
    assert "no attack is named 'loud'" in refused.stderr
