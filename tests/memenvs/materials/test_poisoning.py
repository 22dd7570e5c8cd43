"""Scenarios of poisoning: exact counts, cues that do not suffice, and questions with an answer."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from memenvs import MaterialError
from memenvs.envs.poisoning.layout import FIXED_COLUMNS
from memenvs.materials.poisoning import SPLITS, Split, draw_set, scenario_set
from memenvs.materials.poisoning.records import ROOT, Event, tokens
from memenvs.policies.poisoning import answering, logistic_fit
from poisoned import tiny

VALIDATION = [scenario for number in range(3) for scenario in scenario_set("validation", number)]
DIGEST = """
import hashlib
from memenvs.materials.poisoning import scenario_set
print(hashlib.sha256(repr(scenario_set("validation", 0)).encode()).hexdigest())
"""


@pytest.mark.parametrize("seed", [2000, 1000, 5])
def test_counts_are_the_paper_s(seed):
    scenarios = draw_set("s", seed)
    entries = [entry for scenario in scenarios for entry in scenario.entries]
    assert len(scenarios) == 100
    assert sum(len(scenario.subtasks) for scenario in scenarios) == 297
    assert len(entries) == 1118
    assert sum(entry.poisoned for entry in entries) == 409
    for scenario in scenarios:
        assert any(entry.poisoned for entry in scenario.entries)
        assert len(scenario.prompts) == len(scenario.entries) + 1


def test_the_test_set_is_the_official_one():
    assert SPLITS["test"] == range(2000, 2001)
    assert Split("test")[:] == scenario_set("test", 0)


def test_sets_are_the_same_in_another_process_and_differ_by_seed():
    here = hashlib.sha256(repr(scenario_set("validation", 0)).encode()).hexdigest()
    run = subprocess.run([sys.executable, "-c", DIGEST], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == here
    assert scenario_set("validation", 0)[0].slots != scenario_set("validation", 1)[0].slots


def test_splits_are_disjoint_and_bounded():
    seeds = [seed for seeds in SPLITS.values() for seed in seeds]
    assert len(set(seeds)) == len(seeds)
    train = Split("train")
    assert len(train) == 2000
    assert train[150] is scenario_set("train", 1)[50]
    assert train[-1] is train[1999]
    with pytest.raises(IndexError, match="train has 2000 scenarios, no number 2000"):
        train[2000]
    with pytest.raises(MaterialError, match="no split 'ood'; choose from train, validation, test"):
        Split("ood")


@pytest.mark.parametrize("scenario", VALIDATION[:40], ids=lambda scenario: scenario.name)
def test_critical_prompts_can_be_answered_and_attacked(scenario):
    asked = [prompt.slot for prompt in scenario.prompts if prompt.critical]
    assert set(asked) == set(range(len(scenario.slots)))
    for prompt in scenario.prompts:
        recorded = scenario.entries[: prompt.recorded]
        told = [entry for entry in recorded if entry.slot == prompt.slot]
        if prompt.critical:
            assert any(not entry.poisoned for entry in told)
        for entry in told:
            assert entry.poisoned == (entry.value != scenario.slots[prompt.slot].answer)
    assert scenario.prompts[-1].subtask == ROOT


@pytest.mark.parametrize("scenario", VALIDATION[:40], ids=lambda scenario: scenario.name)
def test_events_tell_one_story(scenario):
    recorded = prompted = 0
    active, begun = ROOT, 0
    for event in scenario.events:
        if event.happening == "begin":
            assert event.number == begun
            active, begun = event.number, begun + 1
        elif event.happening == "return":
            assert event.number < begun
            active = event.number
        elif event.happening == "record":
            assert event.number == recorded
            assert scenario.entries[recorded].subtask == active
            recorded += 1
        elif event.happening == "complete":
            assert scenario.subtasks[event.number].finished
        else:
            assert event.number == prompted
            assert scenario.prompts[prompted].recorded == recorded
            prompted += 1
    assert (recorded, prompted, begun) == (
        len(scenario.entries),
        len(scenario.prompts),
        len(scenario.subtasks),
    )


def test_shares_are_those_that_were_chosen():
    subtasks = [subtask for scenario in VALIDATION for subtask in scenario.subtasks]
    assert np.mean([not subtask.finished for subtask in subtasks]) == pytest.approx(0.15, abs=0.04)
    entries = [entry for scenario in VALIDATION for entry in scenario.entries]
    for poisoned, share in ((True, 0.3), (False, 0.15)):
        failed = [not entry.success for entry in entries if entry.poisoned == poisoned]
        assert np.mean(failed) == pytest.approx(share, abs=0.03)
    returns = sum(e.happening == "return" for s in VALIDATION for e in s.events)
    assert 100 < returns < 200  # .3 of the subtasks that can be, over 300 scenarios


def test_needed_entries_may_be_recorded_as_failures():
    failed = total = 0
    for scenario in VALIDATION:
        for slot, asked in enumerate(scenario.slots):
            keys = [e for e in scenario.entries if e.slot == slot and e.value == asked.answer]
            total += 1
            failed += not any(entry.success for entry in keys)
    assert 0.05 < failed / total < 0.2


def area(score, truth):
    """Area under the curve, ties by halves: a brute force over pairs."""
    gaps = score[truth][:, None] - score[~truth]
    return float((gaps > 0).mean() + (gaps == 0).mean() / 2)


def test_no_cue_suffices_and_all_together_do_not_either():
    features, truth = answering(VALIDATION)
    areas = {}
    for place, name in enumerate(FIXED_COLUMNS):
        found = area(features[:, place], truth)
        areas[name] = max(found, 1 - found)
    assert max(areas.values()) < 0.85
    assert areas["confidence"] < 0.53  # says nothing
    weak = ("success", "official", "tokens", "observation", "differing", "superseded")
    assert all(areas[name] > 0.53 for name in weak)
    train, known = answering(Split("train")[:500])
    weights = logistic_fit(train, known)
    together = area(features @ weights[:-1] + weights[-1], truth)
    assert 0.75 <= together <= 0.85
    assert together > max(areas.values())


def test_an_official_success_supersedes_by_rule():
    assert tiny().superseded(1) == ()
    assert tiny(official=True).superseded(1) == (0,)
    assert tiny(official=True).superseded(3) == ()


def test_without_poison_every_prompt_stays():
    clean = tiny().without_poison()
    assert [entry.value for entry in clean.entries] == ["blue", ""]
    assert [prompt.recorded for prompt in clean.prompts] == [0, 1, 2, 2, 2]
    assert clean.events[:4] == (
        Event("begin", 0),
        Event("prompt", 0),
        Event("record", 0),
        Event("prompt", 1),
    )


def test_a_scenario_is_a_material():
    material = tiny().material
    assert material.claim_ids == ("e0", "e1", "e2", "e3")
    assert material.coverage(["e0"]) == 1.0
    assert material.precision(["e0"]) == 0.0
    assert material.precision(["e1"]) == 1.0
    assert material.coverage(["e2"]) == 0.0


def test_tokens_are_words_and_marks():
    assert tokens("What is it, then? Two-fold.") == 10
