"""The shipped policy: worth worked out by hand, the same in an environment and on a live stream."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

from memenvs import Material
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.material.records import Claim, Item, Query
from memenvs.policies import WriteMemory, make
from memenvs.policies.learned.pretrained import CLIP, PRIOR, Weights
from memenvs.policies.learned.support_size import SupportSize
from memenvs.policies.rules.joint import scheduled

TEXTS = [
    "Well, hello there!",
    "I met Anna in Paris last May.",
    "Okay.",
    "Did you?",
    "Yes, and then we all went to the Louvre with 12 friends of Bernard.",
    "Nice.",
]


def talk(texts=tuple(TEXTS)):
    """A conversation; each second turn is asked about."""
    claims = tuple(Claim(id=str(n), text=text, source="AB"[n % 2]) for n, text in enumerate(texts))
    items = tuple(
        Item(id=f"n{n}", supports=((str(n),),), answers=(f"q{n}",)) for n in range(1, len(texts), 2)
    )
    queries = tuple(Query(id=f"q{n}", text="?") for n in range(1, len(texts), 2))
    return Material("talk", claims, items, queries)


def kept(policy, env):
    observation, _ = env.reset(seed=0)
    state, over = None, False
    while not over:
        action, state = policy.predict(observation, state)
        observation, _, over, _, info = env.step(action)
    assert info["illegal_action"] == 0
    return set(np.flatnonzero(env.memory).tolist())


@pytest.fixture
def one_column(tmp_path):
    """Weights that read the question mark alone."""
    path = tmp_path / "weights.json"
    Weights(("question",), (0.25,), (0.5,), (-2.0,), credits=3.0).save(path)
    return path


def test_worth_is_the_standardised_column_times_its_weight_plus_what_was_settled(one_column):
    env = MemorizationEnv(talk(), capacity=2)
    policy = make(f"pretrained:{one_column}", env)
    observation, _ = env.reset(seed=0)
    _, (state, _) = policy.predict(observation)
    # One claim without a question mark was read, besides 20 of mean .25 and deviation .5.
    mean = PRIOR * 0.25 / (PRIOR + 1)
    deviation = np.sqrt(PRIOR * (0.5**2 + 0.25**2) / (PRIOR + 1) - mean**2)
    assert state[0].tolist() == [PRIOR + 1, PRIOR * 0.25, PRIOR * (0.5**2 + 0.25**2)]
    rows = np.zeros((1, 3, env.layout.claim.width), dtype=np.float32)
    rows[0, 1, env.layout.index("question")] = 1
    rows[0, 2, env.layout.index("credits")] = 1
    worth = [-2 * -mean / deviation, -2 * (1 - mean) / deviation, 2 * mean / deviation]
    worth[2] += 3 * np.log(2)
    assert policy.score(rows, observation)[0] == pytest.approx(worth)


def test_numbers_far_from_the_text_are_clipped(one_column):
    env = MemorizationEnv(talk(), capacity=2)
    policy = make(f"pretrained:{one_column}", env)
    observation, _ = env.reset(seed=0)
    policy.predict(observation)
    rows = np.zeros((1, 1, env.layout.claim.width), dtype=np.float32)
    rows[..., env.layout.index("question")] = 1e6
    assert policy.score(rows, observation)[0, 0] == -2 * CLIP


def test_it_keeps_what_says_something():
    """Length, names, numbers: the two informative turns stay, whatever comes between."""
    env = MemorizationEnv(talk(), capacity=2, closing=1)
    assert kept(make("pretrained", env), env) == {1, 4}


def test_a_live_memory_keeps_what_the_environment_would():
    env = MemorizationEnv(talk(), capacity=3, every=None)
    memory = WriteMemory("pretrained", 3, claims=len(TEXTS))
    for number, text in enumerate(TEXTS):
        memory.add(text, source="AB"[number % 2])
    assert {entry.number for entry in memory.contents()} == kept(make("pretrained", env), env)


def test_it_is_the_default_memory_and_goes_on_after_it_was_saved(tmp_path):
    memory, whole = WriteMemory(capacity=2), WriteMemory(capacity=2)
    assert memory.policy_name == "pretrained"
    for text in TEXTS:
        memory.add(text)
        whole.add(text)
        memory.save(tmp_path / "memory.zip")
        memory = WriteMemory.load(tmp_path / "memory.zip")
    assert memory.contents() == whole.contents()
    assert len(WriteMemory()) == 0


def test_what_was_settled_outweighs_the_words():
    memory = WriteMemory(capacity=1)
    first = memory.add("Okay.")
    for _ in range(50):
        memory.settled("Okay?", answered_rightly=True, claims=[first])
    memory.add(TEXTS[4])
    assert [entry.number for entry in memory.contents()] == [first]


def test_later_claims_change_nothing_of_earlier_decisions():
    """A stream is read strictly on line: the memories after each claim are those of its start."""

    def memories(texts):
        memory = WriteMemory(capacity=2)
        for text in texts:
            memory.add(text)
            yield [entry.number for entry in memory.contents()]

    assert list(memories(TEXTS[:4])) == list(memories(TEXTS))[:4]


def test_without_texts_it_plays_as_if_all_were_average():
    claims = tuple(Claim(id=str(n)) for n in range(4))
    items = (Item(id="n", supports=(("0",),), answers=("q",)),)
    env = MemorizationEnv(Material("bare", claims, items, (Query(id="q"),)), capacity=2)
    assert kept(make("pretrained", env), env) == {0, 1}


def test_the_weights_are_small_and_tell_where_they_come_from():
    text = files("memenvs.policies.learned").joinpath("pretrained.json").read_text("utf-8")
    assert len(text) < 100_000
    assert {"materials", "licence", "command", "seed", "results"} <= Weights.load().card.keys()
    assert json.loads(text)["format"] == "memenvs.pretrained/1"


@pytest.mark.parametrize(
    "change",
    [{"weights": []}, {"deviation": [0.0]}, {"mean": ["x"]}, {"format": "other"}, {"more": [1]}],
)
def test_files_of_others_are_refused_in_one_sentence(change, one_column):
    found = json.loads(one_column.read_text())
    one_column.write_text(json.dumps(found | change))
    with pytest.raises(ValueError, match="holds no weights of the policy 'pretrained'"):
        Weights.load(one_column)


def test_claims_without_successes_age_where_answers_need_several(tmp_path):
    path = tmp_path / "weights.json"
    Weights(("question",), (0.25,), (0.5,), (0.0,), credits=3.0, ageing=64.0).save(path)
    env = MemorizationEnv(talk(), capacity=2)
    policy = make(f"pretrained:{path}", env)
    rows = np.zeros((1, 2, env.layout.claim.width), dtype=np.float32)
    rows[..., env.layout.index("age")] = 0.25
    rows[0, 1, env.layout.index("credits")] = 1
    observation, _ = env.reset(seed=0)
    policy.predict(observation)
    assert policy.score(rows, observation)[0] == pytest.approx([0, 3 * np.log(2)])
    # Three failures and no answer speak for two claims: (2 - 1.5) of 64.
    share = observation["context"][..., env.layout.index("settled", "context")]
    share[...] = 3 / scheduled(env.rules, env.layout)
    policy.predict(observation)
    aged = [-32 * 0.25, 3 * np.log(2) - 32 * 0.25 / 2]
    assert policy.score(rows, observation)[0] == pytest.approx(aged)


def test_the_size_of_supports_is_told_by_credits_and_answers():
    layout = MemorizationEnv(talk(), capacity=2).layout

    def shown(share, answered, credits):
        context = np.zeros((1, layout.context.width))
        context[0, layout.index("settled", "context")] = share
        context[0, layout.index("answered", "context")] = answered
        memory = np.zeros((1, 2, layout.memory.width))
        memory[0, :, layout.index("credits")] = credits
        return {"context": context, "memory": memory}

    known = SupportSize.begun(1, slots=2, scheduled=8)
    assert known.mean == 1
    known = known.seen(shown(3 / 8, 0, [0, 0]), layout)
    assert known.mean == 2  # three failures and no answer
    known = known.seen(shown(4 / 8, 1 / 4, [1, 1]), layout)
    assert known.mean == 3 / 2  # one answer by two claims, and one by one
    known = known.written(np.array([1]))  # what had a success makes way
    known = known.seen(shown(4 / 8, 1 / 4, [0, 1]), layout)
    assert known.mean == 3 / 2
    known = known.seen(shown(4 / 16, 1 / 4, [0, 1]), layout)  # expected to be twice as long
    known = known.seen(shown(5 / 16, 2 / 5, [1, 2]), layout)
    assert known.mean == 5 / 3
