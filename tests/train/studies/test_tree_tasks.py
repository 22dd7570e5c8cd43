"""Long-horizon tasks: what is drawn, how they are played, and what the command prints."""

from types import SimpleNamespace

import pytest

from commands import answer, memenvs_cli
from memenvs.policies.weighted_tree import configuration, count_tokens
from memenvs.train.studies import tree_play
from memenvs.train.studies.tree_play import MEMORIES, Agent, ablate, cosine, rows_of
from memenvs.train.studies.tree_tasks import SEEDS, Fact, draw_task, schedule

TASKS = [draw_task(seed) for seed in range(40)]


def test_equal_seeds_draw_equal_tasks_and_splits_are_apart():
    assert draw_task(3) == TASKS[3]
    assert draw_task(4) != TASKS[3]
    assert SEEDS["test"] - SEEDS["validation"] >= 10_000


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.seed)
def test_every_question_can_be_answered_from_what_was_seen(task):
    seen = {}
    for place, facts, ends in schedule(task.parts):
        for fact in facts:
            if fact.value:
                seen.setdefault(fact.slot, set()).add(fact.value)
        for slot in task.parts[place].asked if ends else ():
            assert task.truth[slot] in seen[slot]
    for slot in task.final:
        assert task.truth[slot] in seen[slot]
    assert 5 <= len(task.parts) <= 8


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.seed)
def test_a_schedule_has_every_fact_once_and_ends_every_part_once(task):
    played = {place: [] for place in range(len(task.parts))}
    ended = []
    for place, facts, ends in schedule(task.parts):
        played[place] += facts
        ended += [place] * ends
    assert sorted(ended) == list(played)
    assert all(tuple(played[place]) == part.facts for place, part in enumerate(task.parts))


def test_tasks_have_interruptions_dead_ends_stale_pages_and_failed_keys():
    parts = [part for task in TASKS for part in task.parts]
    keys = [fact for part in parts for fact in part.facts if fact.official]
    assert 0.2 < sum(part.interrupted for part in parts) / len(parts) < 0.4
    assert 0.08 < sum(not part.finished for part in parts) / len(parts) < 0.24
    assert 0.03 < sum(fact.outcome == "failure" for fact in keys) / len(keys) < 0.2
    assert any("old page" in fact.text for part in parts for fact in part.facts)


def test_playing_is_deterministic_and_counts_what_the_tree_counts():
    for name in ("full", "linear"):
        agent = Agent(name)
        first = agent.play(TASKS[0])
        assert first == Agent(name).play(TASKS[0])
        assert first.prompts == agent.tree.tokens.prompts
        again = agent.play(TASKS[0])  # a second tree in the same memory
        assert again.prompts == agent.tree.tokens.prompts - first.prompts


def test_memory_is_needed_and_is_paid_for():
    rows = {row["memory"]: row for row in rows_of(ablate("validation", 6))}
    assert tuple(rows) == tuple(MEMORIES)
    assert rows["no-memory"]["accuracy"] == 0
    assert rows["linear"]["steps"] > rows["no-memory"]["steps"]
    assert rows["no-memory"]["tokens"] < rows["full"]["prompts"] < rows["linear"]["prompts"]
    for name, row in rows.items():
        assert row["tokens"] == row["prompts"] + row["selector"] + row["summarizer"]
        switches = configuration(MEMORIES[name][0])
        assert (row["selector"] > 0) == switches.selector
        assert (row["summarizer"] > 0) == switches.folding


def test_cosine_of_words_by_hand():
    assert cosine("founder of Islay", "The founder of Islay is p1") == pytest.approx(3 / 18**0.5)
    assert cosine("", "word") == 0
    assert count_tokens("The founder of Islay is p1") == 6


def test_the_command_prints_a_table_or_one_object():
    printed = answer("tree-tasks", "--tasks", "2")
    assert [row["memory"] for row in printed["rows"]] == list(MEMORIES)
    assert (printed["split"], printed["tasks"]) == ("validation", 2)
    done = memenvs_cli("tree-tasks", "--tasks", "1", "--sensitivity")
    assert done.exit_code == 0
    assert "global=0.3" in done.stdout
    assert "streak=5" in done.stdout


def test_what_failed_is_doubted(monkeypatch):
    # Of three words the failed fact shares all and the other two of three, so the failed one would
    # be taken: 1 against 2/3. With three tenths of its score left it is not: .3 against .667.
    monkeypatch.setattr(tree_play, "NOISE", 0.0)
    agent = Agent("full")
    monkeypatch.setattr(agent.tree, "sources", lambda node: ())
    failed = Fact("harbour gate code", "harbour gate code", "17", "failure", False)
    other = Fact("harbour gate north", "harbour gate code", "42", "success", False)
    agent._known = {0: (0, failed), 1: (1, other)}
    both = SimpleNamespace(selected=[0, 1])
    assert agent._answer(TASKS[0], "harbour gate code", both) == "42"
    agent._known[0] = 0, failed._replace(outcome="success")
    assert agent._answer(TASKS[0], "harbour gate code", both) == "17"
