"""An environment in words: what is said, what may be said back, and that nothing leaks."""

import json
from dataclasses import replace

import pytest
from gymnasium.utils.env_checker import check_env

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.wrappers import TextObservation

CLAIMS = (
    Claim(id="a", text='Tom said "tea"', source="Ann", time=2.0, truth=False),
    Claim(id="b", text="It rains", confidence=0.5),
    Claim(id="c", text="Bonn is small"),
)
ITEMS = (Item(id="n", supports=(("a",), ("b",)), answers=("q",)),)
MATERIAL = Material("talk", CLAIMS, ITEMS, (Query(id="q", text="What did Tom say?"),))


def environment(material=MATERIAL, **settings):
    return TextObservation(MemorizationEnv(material, **{"capacity": 2, **settings}))


def say(action, slot=None):
    return json.dumps({"action": action} | ({} if slot is None else {"slot": slot}))


def test_what_is_said_word_by_word():
    env = environment(every=1, utility="coverage")
    text, info = env.reset(seed=0)
    assert text == (
        "100% of the statements are still to be read, with this one.\n"
        'Statement: "Tom said \\"tea\\"" (source "Ann"; time 2.0)\n'
        "Memory:\n1: free\n2: free"
    )
    assert (info["invalid_actions"], info["invalid_reason"]) == (0, "")
    text, *_ = env.step(say("keep"))
    assert text == (
        "67% of the statements are still to be read, with this one.\n"
        'Statement: "It rains" (confidence 0.5)\n'
        'Memory:\n1: "Tom said \\"tea\\"" (source "Ann"; time 2.0; answered rightly with it: 1)\n'
        '2: free\nQuestions:\n- "What did Tom say?": answered rightly'
    )


def test_every_action():
    env = environment(clearing=True)
    env.reset(seed=0)
    memory = env.unwrapped.episode.slots.claims
    env.step(f"Sure! ```json\n{say('keep')}\n```")
    assert memory.tolist() == [0, -1]
    env.step(say("keep"))
    assert memory.tolist() == [0, 1]
    _, _, over, _, info = env.step(say("replace", 1))
    assert memory.tolist() == [2, 1]
    assert (over, info["invalid_actions"]) == (True, 0)
    env.reset(seed=0)
    memory = env.unwrapped.episode.slots.claims
    env.step(say("keep"))
    env.step(say("clear", 1))
    _, _, _, _, info = env.step(say("pass"))
    assert memory.tolist() == [-1, -1]
    assert info["invalid_actions"] == 0


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I would keep it", "no JSON object: 'I would keep it'"),
        ("{keep}", "no JSON object"),
        ("} {", "no JSON object"),
        ("[" * 100_000 + "{}", "unknown action: None"),
        ('{"action": ["keep"]}', r"unknown action: \['keep'\]"),
        (say("replace", 1), "slot 1 cannot be replaced"),  # a slot is free
        (say("replace", 3), "no slot: 3"),
        (say("replace", True), "no slot: True"),
        (say("replace", "1"), "no slot: '1'"),
        (say("replace"), "no slot: None"),
        (say("clear", 1), "slot 1 cannot be cleared"),
    ],
)
def test_what_cannot_be_done_is_a_pass_that_is_counted(said, reason):
    env = environment(strict=True)  # the environment within sees a pass
    env.reset(seed=0)
    _, _, _, _, info = env.step(said)
    assert env.unwrapped.memory.sum() == 0
    assert info["invalid_actions"] == 1
    assert info["illegal_action"] == 0
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(info["invalid_reason"])
    assert env.step(say("keep"))[-1]["invalid_actions"] == 1
    assert env.reset(seed=0)[1]["invalid_actions"] == 0


def test_a_full_memory_keeps_no_more():
    env = environment(capacity=1)
    env.reset(seed=0)
    env.step(say("keep"))
    _, _, _, _, info = env.step(say("keep"))
    assert info["invalid_reason"] == "no slot is free to keep it in"


def test_truth_and_hidden_queries_are_not_said():
    turned = replace(MATERIAL, claims=tuple(replace(c, truth=1 - c.truth) for c in CLAIMS))
    hidden = replace(MATERIAL, queries=(Query(id="q", text="Else?"),))
    texts = []
    for material in (MATERIAL, turned, hidden):
        env = environment(material)
        said = [env.reset(seed=0)[0]]
        said += [env.step(say("keep"))[0] for _ in range(2)]
        texts.append(said)
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"disclosure": "one"}, '- "What did Tom say?" (100% of what will be asked)'),
        ({"disclosure": "all"}, '- "What did Tom say?" (100% of what will be asked)'),
    ],
)
def test_queries_known_beforehand_are_said(settings, line):
    text, _ = environment(**settings).reset(seed=0)
    assert text.endswith(f"Questions:\n{line}")


def test_feedback_of_none_says_no_question():
    env = environment(every=1, feedback="none")
    env.reset(seed=0)
    assert "Tom say" not in env.step(say("keep"))[0]


def test_the_instruction_names_what_there_is():
    assert '"clear"' not in environment().instruction
    assert '"clear"' in environment(clearing=True).instruction
    assert "at most 2" in environment().instruction


def test_gymnasium_accepts_it():
    with pytest.warns(UserWarning, match="different from the unwrapped version"):
        check_env(environment(), skip_render_check=True)


def test_pools_priorities_and_wordless_claims_are_refused():
    for settings in ({"access": "pool"}, {"action": "priority"}):
        with pytest.raises(ValueError, match="TextObservation reads a stream and writes slots"):
            environment(**settings)
    mute = replace(MATERIAL, claims=tuple(replace(claim, text="") for claim in CLAIMS))
    with pytest.raises(ValueError, match="TextObservation needs claims with a text"):
        environment(mute)
