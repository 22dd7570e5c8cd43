"""A real stream is shown as an environment would show it: one code path, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memenvs.envs.memorization.features import Reader
from memenvs.envs.memorization.live import Live
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query
from memenvs.text.encoders import embeddings

CLOSE = 2e-6  # products of single precision, summed in another order

words = st.sampled_from("I saw Anna in May? 2021 you yesterday the Dog. barked".split())
texts = st.lists(words, max_size=6).map(" ".join)


@st.composite
def streams(draw: st.DrawFn) -> Material:
    """Materials with everything that a claim may have."""
    n = draw(st.integers(1, 9))
    claims = [
        Claim(
            id=f"c{i}",
            text=draw(texts),
            truth=draw(st.booleans()),
            source=draw(st.sampled_from(["", "a", "b", "c"])),
            group=draw(st.sampled_from(["", "g", "h"])),
            time=draw(st.none() | st.integers(-5, 50).map(float)),
            confidence=draw(st.none() | st.floats(0, 1)),
            cost=draw(st.sampled_from([1.0, 2.0, 0.5])),
            cues=draw(st.sampled_from([{}, {"weight": 0.25}, {"weight": -2.0, "odd": 1.0}])),
        )
        for i in range(n)
    ]
    pairs = [((f"c{i - 1}", f"c{i - 2}"),) if i > 1 else () for i in range(n)]
    items = [
        Item(id=f"n{i}", supports=((f"c{i}",), *pairs[i]), answers=(f"q{i}",)) for i in range(n)
    ]
    queries = [Query(id=f"q{i}", text=draw(texts), weight=1.0 + i) for i in range(n)]
    return Material("stream", tuple(claims), tuple(items), tuple(queries))


def follow(material: Material, seed: int, **arguments: object) -> None:
    """Play at random, and feed a live memory what a real system would be told."""
    rng = np.random.default_rng(seed)
    env = MemorizationEnv(material, **arguments)  # type: ignore[arg-type]
    shown, _ = env.reset(seed=seed)
    live = Live(env.rules, env.actions, env.layout, len(material.claims))
    vectors, _, asked = (part.astype(np.float32) for part in embeddings(material))
    for claim, vector in zip(material.claims, vectors, strict=True):
        live.arrive(claim, vector)
        own = live.observation()
        assert own.keys() == shown.keys()
        for name, array in shown.items():
            np.testing.assert_allclose(own[name], array, rtol=CLOSE, atol=CLOSE, err_msg=name)
        if env.rules.action == "priority":
            action = rng.uniform(-1, 1, 1)
        else:
            action = rng.choice(np.flatnonzero(shown["action_mask"]))
        shown, *_ = env.step(action)
        live.write(action)
        assert live.slots.stored == env.episode.slots.stored
        for settled in env.episode.log[len(env.episode.log) - env.episode.fresh :]:
            live.settle(asked[settled.query], settled.answered, settled.claims)


@settings(max_examples=60, deadline=None)
@given(
    streams(),
    st.integers(0, 99),
    st.sampled_from(["slots", "priority"]),
    st.sampled_from(["claims", "outcome", "none"]),
    st.sampled_from([None, 2.5]),
)
def test_a_stream_is_shown_as_an_environment_shows_it(material, seed, action, feedback, budget):
    follow(
        material,
        seed,
        capacity=2,
        action=action,
        feedback=feedback,
        budget=budget,
        every=2,
        queries=2,
        clearing=True,
    )


@pytest.mark.parametrize("action", ["slots", "priority"])
@pytest.mark.parametrize("tier", ["readable-test-3", "worlds-test-1", "composite-test-2"])
def test_generated_materials_are_shown_alike(tier, action):
    follow(MemorizationEnv(tier).materials.fixed[0], 5, action=action, every=1)


@settings(max_examples=60, deadline=None)
@given(streams(), st.lists(st.integers(1, 4), min_size=9, max_size=9))
def test_claims_read_in_pieces_have_the_features_of_claims_read_at_once(material, pieces):
    env = MemorizationEnv(material)
    vectors = embeddings(material)[0].astype(np.float32)
    whole, source, group = Reader(env.layout).read(material.claims, vectors)
    reader, read = Reader(env.layout), 0
    for piece in pieces:
        claims = material.claims[read : read + piece]
        rows, sources, groups = reader.read(claims, vectors[: read + len(claims)])
        part = slice(read, read + len(claims))
        np.testing.assert_allclose(rows, whole[part], rtol=CLOSE, atol=CLOSE)
        assert (sources == source[part]).all()
        assert (groups == group[part]).all()
        read += len(claims)


def test_a_stream_longer_than_expected_goes_on():
    material = MemorizationEnv("readable-test-3").materials.fixed[0]
    env = MemorizationEnv(material)
    live = Live(env.rules, env.actions, env.layout, claims=4)
    vectors = embeddings(material)[0].astype(np.float32)
    for number, (claim, vector) in enumerate(zip(material.claims, vectors, strict=True)):
        live.arrive(claim, vector)
        shown = live.observation()
        assert env.observation_space.contains(shown)
        left = shown["context"][env.layout.index("decisions_left", "context")]
        expected = next(n for n in (4, 8, 16, 32, 64, 128) if n > number)
        assert left == np.float32((expected - number) / expected)
        live.write(int(np.flatnonzero(shown["action_mask"])[-1]))
    assert live.considered is None
