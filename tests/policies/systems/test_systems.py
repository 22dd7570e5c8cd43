"""Systems of Python and of other processes as policies, and everything they can do wrong."""

import shlex
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from commands import answer, memenvs_cli
from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.materials.odyssey import odyssey
from memenvs.policies import make
from memenvs.policies.systems.process import ProcessSystem
from memenvs.policies.systems.protocol import FaultySystemError
from memenvs.train.places import Instance
from memenvs.train.play import play_one
from memenvs.train.units import Unit
from players import run

PROGRAM = Path(__file__).parents[2] / "support" / "memory_process.py"


def process(fault=""):
    return f"process:{shlex.join([sys.executable, str(PROGRAM), fault])}"


def statements(count, costs=None):
    claims = tuple(
        Claim(id=f"c{n}", text=f"Statement {n}", cost=1.0 if costs is None else costs[n])
        for n in range(count)
    )
    items = (Item(id="n", supports=(("c0",),), answers=("q",)),)
    return Material("statements", claims, items, (Query(id="q", text="Which?"),))


def ends_with(name, material, **settings):
    """Give what is kept at the end, in slots and in the system, and the policy."""
    env = MemorizationEnv(material, strict=True, **settings)
    policy = make(name, env)
    observation, info = env.reset(seed=0)
    state, over = policy.start(np.array([0])), False
    while not over:
        action, state = policy.predict(observation, state, action_masks=info["action_mask"])
        observation, _, over, _, info = env.step(action)
    (kept,) = policy.kept(state)
    policy.conclude(state, 0.0)
    return np.flatnonzero(env.memory).tolist(), kept, policy


@pytest.mark.parametrize("name", ["system:real_systems:Newest", process()])
def test_what_the_system_keeps_is_written(name):
    env = MemorizationEnv(odyssey(), capacity=2, strict=True)
    policy = make(name, env)
    assert run(policy, env) == [[0], [0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    policy.conclude((np.array([0]),), 0.0)


def test_it_is_given_what_an_observer_knows():
    claims = (
        Claim(id="x", text="a", source="s", time=2.0, confidence=0.5, group="g", truth=False),
        Claim(id="y", text="b", cues={"style": 1.0}),
    )
    items = (Item(id="n", supports=(("x",),), answers=("q",)),)
    material = Material("facts", claims, items, (Query(id="q"),))
    env = MemorizationEnv(material, capacity=2)
    policy = make("system:real_systems:Newest", env)
    run(policy, env)
    (running,) = policy._running.values()
    assert running.system.facts == [
        {"id": "0", "source": "s", "time": 2.0, "confidence": 0.5, "group": "g"},
        {"id": "1"},
    ]


def test_what_is_beyond_the_capacity_is_cut_from_the_front():
    slots, kept, policy = ends_with("system:real_systems:Everything", statements(5), capacity=2)
    assert slots == kept == [3, 4]
    assert "of 5 entries at the ends of episodes 0 matched no claim, 3 were" in policy.remark()


def test_a_budget_is_kept():
    slots, kept, _ = ends_with(
        "system:real_systems:Everything",
        statements(5, costs=[1, 1, 2, 1, 2]),
        capacity=4,
        budget=4.0,
    )
    assert kept == [3, 4]  # with c2 they would cost 5
    assert set(slots) <= {0, 1, 2, 3, 4}


def test_what_it_gave_up_at_once_is_not_its_own_though_it_stays_in_slots():
    slots, kept, _ = ends_with("system:real_systems:Forgetful", statements(6), capacity=3)
    assert kept == [5]
    assert len(slots) == 3
    assert 5 in slots
    cleared, kept, _ = ends_with(
        "system:real_systems:Forgetful", statements(6), capacity=3, clearing=True
    )
    assert (len(cleared), kept) == (3, [5])


def test_reworded_entries_are_no_claims_and_are_reported():
    slots, kept, policy = ends_with("system:real_systems:Rewording", statements(4), capacity=3)
    assert slots == kept == []
    assert "of 4 entries at the ends of episodes 4 matched no claim, 1 were" in policy.remark()


def test_the_plane_shows_what_the_system_holds():
    env = MemorizationEnv(statements(6), capacity=3)
    policy = make("system:real_systems:Forgetful", env)
    played = Unit(Instance("statements", env.materials[0]), 0, seed=0)
    measured = play_one(env, policy, played)
    assert measured.values["size"] == 1  # not the three of the slots
    assert policy._running == {}


def test_compare_places_systems_and_says_what_did_not_count():
    names = ["system:real_systems:Newest", "system:real_systems:Rewording", process("search")]
    options = [word for name in ["fifo", *names] for word in ("--policy", name)]
    found = answer(
        "compare", "--material", "odyssey", "--capacity", "3", "--episodes", "1", "--utility",
        "end-to-end", "--reader", "own:2", *options,
    )  # fmt: skip
    rows = {row["policy"]: row for row in found["rows"]}
    assert rows[names[0]]["precision"] == rows["fifo"]["precision"] > 0
    assert rows[names[2]]["precision"] == rows["fifo"]["precision"]
    assert rows[names[1]]["size"] == 0
    # The process always finds its two oldest entries: e4 (q6: .20) and e5 (q5: .05).
    assert rows[names[2]]["answered"] == pytest.approx(0.25)
    remarks = {record["policy"]: record["remark"] for record in found["summary"]}
    assert remarks["fifo"] == ""
    assert remarks[names[1]].startswith("of 6 entries at the ends of episodes 6 matched no claim")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "system",
            "the policy 'system' needs a system to be named: system:MODULE:CLASS_OR_FACTORY",
        ),
        ("process:", "the policy 'process' needs a system to be named: process:COMMAND"),
        ("system:no.such:Thing", "there is no module 'no.such' for 'system:no.such:Thing'"),
        ("system:real_systems:No", "the module 'real_systems' has no class or factory 'No'"),
        ("system:real_systems", "the module 'real_systems' has no class or factory ''"),
        ("system:real_systems:Unfinished", "a Unfinished, has no 'contents'"),
        ("system:real_systems:Broken", "cannot be made: OSError: no licence"),
        ("system:real_systems:Failing", "failed in add: RuntimeError: the index is broken"),
        ("system:real_systems:Deaf", "failed in add: TypeError"),
        ("system:real_systems:Odd", "gave no list in contents: dict"),
        ("process:no-such-program-here", "names no program that can be run"),
        ("process:'", "is no command line: No closing quotation"),
        (process("die"), "ended with exit code 3 instead of answering 'add'"),
        (process("nonsense"), "answered 'start' with no JSON object: 'nonsense'"),
        (process("error"), "answered 'contents' with an error: 'the disk is full'"),
        (process("list"), "answered 'contents' without a list of 'entries'"),
        (process("entry"), "gave in contents an entry without a text"),
    ],
)
def test_a_fault_is_one_clear_line(name, said):
    result = memenvs_cli("compare", "--material", "odyssey", "--policy", name, "--episodes", "1")
    assert result.exit_code in (1, 2)  # 2 where it shows before anything is played
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("hang", "did not answer 'add' within 0.5 s"),
        ("leave", "closed its output instead of answering 'add'"),
    ],
)
def test_a_process_that_hangs_is_ended(fault, said):
    system = ProcessSystem([sys.executable, str(PROGRAM), fault], timeout=5.0)
    assert system.ask({"op": "start", "capacity": 2})["ok"]
    system._timeout = 0.5
    with pytest.raises(FaultySystemError, match=said):
        system.add("a", id="0")
    assert system._process.returncode is not None
    with pytest.raises(FaultySystemError, match="has ended"):
        system.contents()


def test_what_a_process_leaves_behind_is_not_waited_for():
    program = (
        "import subprocess, sys, time; "
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'], "
        "start_new_session=True); time.sleep(60)"  # it holds the pipe, out of reach
    )
    start = time.monotonic()
    with pytest.raises(FaultySystemError, match="did not answer 'start' within 1 s"):
        ProcessSystem.start([sys.executable, "-c", program], 2, timeout=1.0)
    assert time.monotonic() - start < 15


def test_a_process_ends_with_its_episode():
    system = ProcessSystem.start([sys.executable, str(PROGRAM)], 2)
    system.close()
    assert system._process.returncode == 0
    system.close()


def test_pools_priorities_and_wordless_claims_are_refused():
    for settings in ({"access": "pool"}, {"action": "priority"}):
        with pytest.raises(ValueError, match="plays neither access='pool' nor"):
            make("system:real_systems:Newest", MemorizationEnv(statements(3), **settings))
    mute = Material("mute", (Claim(id="c"),), (), (Query(id="q"),))
    with pytest.raises(ValueError, match="needs claims with a text"):
        make("system:real_systems:Newest", MemorizationEnv(mute))
