"""Renderings, by hand where they are words, by what changes where they are pixels."""

import itertools
import pickle
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from gymnasium.wrappers import RecordVideo

import memenvs  # noqa: F401 - registers the environments
from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.render import window
from memenvs.envs.memorization.render.ansi import as_text
from memenvs.envs.memorization.render.canvas import drawable, wrapped
from memenvs.envs.memorization.render.scene import player_scene

STREAM = {"access": "stream", "disclosure": "settled"}


@pytest.fixture(autouse=True)
def _no_display(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def play(env, actions, seed=1):
    env.reset(seed=seed)
    for action in actions:
        env.step(action)
    return env


@pytest.mark.parametrize("seed", range(6))
def test_text_by_hand(seed):
    env = MemorizationEnv("odyssey-noisy", capacity=3, every=2, **STREAM, render_mode="ansi")
    env.reset(seed=seed)
    assert env.render().splitlines() == [
        "odyssey-noisy | decision 1 of 7 | memory 0 of 3 | settled 0, right 0, earned 0.00",
        "coverage 0.00 (best 0.90) | precision 0.00 (best 0.80)",
        "considered  true e1 It took Odysseus ten years to sail home from Troy.",
        "stored      nothing",
    ]
    env.step(1)
    env.step(2)
    (settled,) = env.episode.log
    query = env.material.queries[settled.query]
    answering = {"q1": "e1", "q2": "e1", "q3": "e2", "q8": "e2"}.get(query.id)
    right, by = int(answering is not None), f"  ({answering})" if answering else ""
    lines = env.render().splitlines()
    record = {claim: " +1 -0" if claim == answering else "" for claim in ("e1", "e2")}
    words = "It took Odysseus ten years to sail home from Troy."
    line = f"   0   true e1 {words}".ljust(96 - len(record["e1"])) + record["e1"]
    assert lines[4] == line.rstrip()
    assert lines[5].startswith("   1   true e2 For seven years the nymph Calypso")
    assert lines[5].endswith(record["e2"] + " new")
    assert lines[:4] + lines[6:] == [
        f"odyssey-noisy | decision 3 of 7 | memory 2 of 3 | settled 1, right {right}, "
        f"earned {right:.2f}",
        "coverage 0.55 (best 0.90) | precision 0.55 (best 0.80)",
        "considered  true e3 Circe turned his men into swine, and Odysseus stayed with her for a "
        "year.",
        "stored",
        "settled",
        f"     {'right' if right else 'wrong'} {query.text}{by}",
    ]


def test_text_stays_narrow_and_short():
    claims = tuple(
        Claim(id=f"turn-{i}", text="words " * 60, truth=0.5 if i % 2 else False) for i in range(60)
    )
    items = tuple(Item(id=f"n{i}", supports=((f"turn-{i}",),), answers=("q",)) for i in range(60))
    material = Material("long " * 40, claims, items, (Query(id="q", text="what? " * 50),))
    env = play(MemorizationEnv(material, capacity=50, render_mode="ansi"), range(1, 51))
    lines = env.render().splitlines()
    assert max(map(len, lines)) <= 96
    assert len(lines) < 40
    assert "     and 30 more" in lines
    assert any("p=0.5" in line for line in lines)


def test_equal_outcomes_are_put_together():
    env = MemorizationEnv("odyssey", capacity=1, closing=200, **STREAM, render_mode="ansi")
    lines = play(env, [1, 0, 0, 0, 0, 0]).render().splitlines()
    rows = lines[lines.index("settled") + 1 :]
    assert len(rows) == 8
    times = [int(row.split()[1][1:]) for row in rows]
    assert sum(times) == 200
    assert sum(row.split()[0] == "right" for row in rows) == 2  # q1 and q2
    assert all(row.endswith("(e1)") for row in rows if "right" in row)


def test_a_player_sees_what_an_agent_may_know():
    for feedback, outcomes, records in (("claims", 1, 1), ("outcome", 1, 0), ("none", 0, 0)):
        settings = {"every": 6, "closing": 9, "feedback": feedback}
        env = MemorizationEnv("odyssey", capacity=6, **settings, **STREAM)
        play(env, range(1, 7))
        text = as_text(player_scene(env.episode))
        assert ("settled 9, right 9, earned 9.00" in text) == bool(outcomes)
        assert ("  (e" in text) == bool(records)
        assert not any(word in text for word in ("true", "FALSE", "precision"))


@pytest.mark.parametrize("name", ["memenvs/Odyssey-v0", "memenvs/OdysseyComposite-v0"])
def test_frames_are_pixels_that_change(name):
    env = gym.make(name, render_mode="rgb_array")
    _, info = env.reset(seed=0)
    frames, rng = [env.render()], np.random.default_rng(0)
    for _ in range(4):
        action = rng.choice(np.flatnonzero(info["action_mask"])[1:])
        _, _, over, _, info = env.step(int(action))
        frames.append(env.render())
        assert not over
    for frame in frames:
        assert frame.shape == (640, 1024, 3)
        assert frame.dtype == np.uint8
    for before, after in itertools.pairwise(frames):
        assert (before != after).any()
    np.testing.assert_array_equal(env.render(), frames[-1])
    frames[-1][:] = 0  # the caller's own
    assert env.render().any()


def many(claims, sources=3):
    return Material(
        "many",
        tuple(
            Claim(
                id=f"c{i}",
                text="" if i % 3 else f"claim {i} was naïve — “quoted” 你好",
                truth=(True, False, 0.3 if claims < 200 else 1.0)[i % 3],
                source=f"s{i % (sources + 1)}" if i % (sources + 1) else "",
                confidence=0.25,
                cost=1.0 + i % 2,
                cues={"style": 0.5},
            )
            for i in range(claims)
        ),
        tuple(
            Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i % 7}",)) for i in range(claims)
        ),
        tuple(Query(id=f"q{i}") for i in range(7)),
    )


@pytest.mark.parametrize(
    ("claims", "capacity", "settings"),
    [
        (1, 1, {}),
        (30, 26, {"every": 1}),
        (90, 60, {"every": 1, "queries": 3}),
        (120, 110, {"access": "pool", "disclosure": "all"}),
        (1300, 400, {"every": 4}),
        (12, 5, {"action": "priority"}),
        (12, 5, {"budget": 6.0, "utility": "end-to-end"}),
        (12, 2, {"access": "pool", "disclosure": "one", "closing": 1}),
    ],
)
def test_every_size_and_setting_can_be_drawn(claims, capacity, settings):
    env = MemorizationEnv(many(claims), capacity=capacity, render_mode="rgb_array", **settings)
    _, info = env.reset(seed=0)
    rng, over = np.random.default_rng(0), False
    for _ in range(20):
        if env.rules.action == "priority":
            action = rng.uniform(-1, 1, 1)
        else:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        *_, over, _, info = env.step(action)
        if over:
            break
    assert env.render().std() > 10
    assert len(as_text(player_scene(env.episode)).splitlines()) > 2


def test_false_claims_show_in_the_picture():
    """Coverage bought with a false claim is drawn in red, and nothing else in that bar is."""
    red = np.array([220, 38, 38])
    frames = []
    for action in (0, 1):
        env = MemorizationEnv("odyssey-noisy", capacity=1, **STREAM, render_mode="rgb_array")
        frames.append(play(env, [0, 0, 0, 0, 0, 0, action], seed=0).render())
    bars = [(frame[214:220, 664:1008] == red).all(axis=-1) for frame in frames]
    assert not bars[0].any()
    assert bars[1].mean() == pytest.approx(0.45, abs=0.02)


def test_unknown_modes_are_named():
    with pytest.raises(ValueError, match="render_mode='svg' is unknown; choose from ansi, rgb_arr"):
        MemorizationEnv("odyssey", render_mode="svg")
    with (
        pytest.warns(UserWarning, match="not in the possible render_modes"),
        pytest.raises(ValueError, match="render_mode='svg' is unknown"),
    ):
        gym.make("memenvs/Odyssey-v0", render_mode="svg")


def test_without_a_mode_render_warns_and_gives_nothing():
    env = MemorizationEnv("odyssey")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


def test_a_window_opens_closes_and_is_left_out_of_pickles():
    env = gym.make("memenvs/Odyssey-v0", render_mode="human")
    env.reset(seed=0)
    assert env.render() is None
    inner = env.unwrapped
    assert inner._renderer._window is not None
    twin = pickle.loads(pickle.dumps(env))
    assert twin.unwrapped._renderer._window is None
    env.close()
    env.close()
    assert inner._renderer._window is None


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match=r"needs pygame: pip install 'memenvs\[render"):
        window.Window(32, 32, "none")
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "memenvs.envs.memorization.render.canvas")
    monkeypatch.delitem(sys.modules, "memenvs.envs.memorization.render.picture", raising=False)
    env = MemorizationEnv("odyssey", render_mode="rgb_array")
    env.reset(seed=0)
    with pytest.raises(DependencyNotInstalled, match=r"needs Pillow: pip install 'memenvs\[render"):
        env.render()


def test_videos_are_recorded(tmp_path):
    env = RecordVideo(
        gym.make("memenvs/Odyssey-v0", render_mode="rgb_array"), str(tmp_path / "videos")
    )
    env.reset(seed=0)
    env.step(env.unwrapped.actions.first_consider)
    env.step(1)
    env.step(0)
    env.close()
    (video,) = (tmp_path / "videos").glob("*.mp4")
    assert video.stat().st_size > 1000


def test_text_is_wrapped_and_made_drawable():
    assert drawable("naïve – “Łódź” 你\n") == "naive - “?odz” ? "
    lines = wrapped("one two three four five six seven eight nine ten", 14, 100, 2)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert wrapped("short", 14, 100, 2) == ("short",)
    assert wrapped("", 14, 100, 2) == ()
    (cut,) = wrapped("x" * 300, 14, 100, 1)
    assert cut.endswith("x…")


def test_rendering_changes_nothing():
    outcomes = []
    for render_mode in (None, "ansi", "rgb_array"):
        env = gym.make("memenvs/OdysseyNoisy-v0", render_mode=render_mode)
        _, info = env.reset(seed=3)
        rng, total = np.random.default_rng(0), 0.0
        over = False
        while not over:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, over, _, info = env.step(action)
            total += reward
            if render_mode:
                env.render()
        outcomes.append((total, info["precision"]))
    assert len(set(outcomes)) == 1
