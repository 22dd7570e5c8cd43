"""Attackers who adapt: what they may change, and what stays whatever they do."""

import pytest

from memenvs.errors import MaterialError
from memenvs.materials.poisoning import draw_set
from memenvs.materials.poisoning.attacks import ATTACKS, COPIES, attacked
from memenvs.materials.poisoning.sets import MAX_ENTRIES

SET = draw_set("attacked", 71)


def benign(scenario):
    return [entry for entry in scenario.entries if not entry.poisoned]


def poison(scenario):
    return [entry for entry in scenario.entries if entry.poisoned]


def before(scenario, number):
    """Entries recorded before the first critical prompt of a question."""
    prompt = next(p for p in scenario.prompts if p.critical and p.slot == number)
    return scenario.entries[: prompt.recorded]


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_benign_and_what_is_asked_stay(name):
    for place, scenario in enumerate(SET):
        found = attacked(scenario, name, place)
        assert found == attacked(scenario, name, place)
        assert benign(found) == benign(scenario)
        assert found.slots == scenario.slots
        assert len(found.entries) <= MAX_ENTRIES
        assert [(p.subtask, p.slot, p.critical) for p in found.prompts] == [
            (p.subtask, p.slot, p.critical) for p in scenario.prompts
        ]
        order = [event.number for event in found.events if event.happening == "record"]
        assert order == list(range(len(found.entries)))
        for one, other in zip(found.prompts, scenario.prompts, strict=True):
            told = found.entries[: one.recorded]
            then = scenario.entries[: other.recorded]
            assert [e for e in told if not e.poisoned] == [e for e in then if not e.poisoned]
        clean, plain = found.without_poison(), scenario.without_poison()
        assert (clean.entries, clean.prompts, clean.events) == (
            plain.entries,
            plain.prompts,
            plain.events,
        )


@pytest.mark.parametrize("name", ["plain", "mimicry", "question-prefix", "success"])
def test_who_edits_adds_nothing_and_tells_the_same_values(name):
    for scenario in SET:
        found = attacked(scenario, name)
        told = [(entry.slot, entry.value) for entry in found.entries]
        assert told == [(entry.slot, entry.value) for entry in scenario.entries]
        for entry in poison(found):
            if name == "mimicry":
                assert (entry.source, entry.kind) == ("official", "observation")
                assert "The official register" in entry.text
            elif name == "question-prefix":
                assert entry.text.startswith(found.slots[entry.slot].text)
            elif name == "success":
                assert entry.success


def test_a_spoof_is_an_official_success_before_its_question_counts():
    for place, scenario in enumerate(SET):
        found = attacked(scenario, "late-spoof", place)
        added = len(found.entries) - len(scenario.entries)
        assert added == min(len(scenario.slots), MAX_ENTRIES - len(scenario.entries))
        for slot in range(added):  # the questions come in their order
            last = [e for e in before(found, slot) if e.slot == slot and e.poisoned][-1]
            assert (last.source, last.success) == ("official", True)
            assert last.value != scenario.slots[slot].answer
            assert last.value in last.text


def test_copies_are_verbatim_and_on_a_budget():
    for scenario in SET:
        found = attacked(scenario, "repetition")
        room = MAX_ENTRIES - len(scenario.entries)
        added = min(COPIES * len(poison(scenario)), room)
        assert len(found.entries) - len(scenario.entries) == added
        assert set(poison(found)) == set(poison(scenario))
        late = attacked(scenario, "late-copy")
        assert set(poison(late)) == set(poison(scenario))


def test_a_split_entry_tells_its_value_apart_from_its_question():
    for scenario in SET:
        found = attacked(scenario, "split")
        for entry in poison(found):
            if entry.text.endswith("See the note that follows."):
                assert entry.value == ""
            elif entry.text.startswith("Note: "):
                assert entry.text == f"Note: {entry.value}."
        assert len(found.entries) > len(scenario.entries) or len(scenario.entries) == MAX_ENTRIES


def test_an_unknown_attack_is_refused():
    with pytest.raises(
        MaterialError, match="no attack is named 'loud'; choose from plain, mimicry"
    ):
        attacked(SET[0], "loud")
