"""Encoders: determinism, lengths, files, and the vectors of a material."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, MaterialError, Query
from memenvs.materials.odyssey import odyssey, odyssey_composite
from memenvs.text.encoders import HashingEncoder, embed, embeddings, unit_rows, words
from memenvs.text.tfidf import TfidfEncoder
from strategies import materials

TEXTS = ["Odysseus sailed home", "", "...", "ODYSSEUS sailed home!", "Κύκλωψ 船", "sailed"]


def unit_or_zero(rows):
    norms = np.linalg.norm(rows, axis=1)
    return np.logical_or(np.isclose(norms, 1.0), norms == 0.0).all()


@given(st.lists(st.text(max_size=20), max_size=5), st.integers(1, 100))
def test_hashing_gives_unit_rows_or_zeros(texts, dimension):
    rows = HashingEncoder(dimension).encode(texts)
    assert rows.shape == (len(texts), dimension)
    assert unit_or_zero(rows)


def test_hashing_ignores_case_and_punctuation_and_sees_endings():
    rows = HashingEncoder(256).encode([*TEXTS, "sailing", "Penelope"])
    assert (rows[0] == rows[3]).all()
    assert not rows[1].any()
    assert not rows[2].any()
    assert rows[4].any()
    assert rows[5] @ rows[6] > 0.3 > abs(rows[5] @ rows[7])


def test_scripts_without_spaces_are_cut_into_pairs():
    assert words("他昨天来了。ABC中文def 船") == [
        *("他昨", "昨天", "天来", "来了", "abc", "中文", "def", "船"),
    ]
    assert words("שלום עולם, ذهب إلى") == ["שלום", "עולם", "ذهب", "إلى"]
    rows = HashingEncoder(256).encode(["他昨天去了北京", "北京很大", "我喜欢茶"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_hashing_is_the_same_in_every_process():
    code = (
        "from memenvs.text.encoders import HashingEncoder;"
        f"print(HashingEncoder(8).encode({TEXTS[:1]!r}).tobytes().hex())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {HashingEncoder(8).encode(TEXTS[:1]).tobytes().hex()}


def test_hashing_keeps_to_values_fixed_for_all_versions():
    row = HashingEncoder(8).encode(["Odysseus sailed home"])[0]
    assert row == pytest.approx(np.array([1, 2, 1, 0, -1, 1, 0, 1]) / 3, abs=1e-15)


def test_an_impossible_length_is_refused():
    with pytest.raises(ValueError, match="dimension is 0"):
        HashingEncoder(0)
    with pytest.raises(ValueError, match="dimension is 0"):
        TfidfEncoder.fit([odyssey()], dimension=0)


def test_unit_rows_at_the_ends_of_the_range():
    rows = unit_rows(np.array([[1e-300, 0], [3e38, 4e38], [0, 0], [5e-324, 0]]))
    assert rows == pytest.approx(np.array([[1, 0], [0.6, 0.8], [0, 0], [1, 0]]))


# --- TF-IDF ---------------------------------------------------------------------------------------


def test_tfidf_fits_on_claims_alone():
    encoder = TfidfEncoder.fit([odyssey()], dimension=4)
    known = {word for claim in odyssey().claims for word in encoder_words(claim.text)}
    assert set(encoder.terms) == known
    assert "companions" not in encoder.terms  # q4 has it


def encoder_words(text):
    return {"".join(filter(str.isalnum, word)) for word in text.lower().split()}


def test_tfidf_rows_and_padding():
    encoder = TfidfEncoder.fit([odyssey()], dimension=64)
    rows = encoder.encode(["Calypso", "zzz", "", "calypso CALYPSO!"])
    assert rows.shape == (4, 64)
    assert encoder.dimension == 64
    assert unit_or_zero(rows)
    assert not rows[1:3].any()
    assert rows[0] == pytest.approx(rows[3], abs=1e-12)
    assert not rows[:, 6:].any()  # six claims give six components


def test_tfidf_weights_are_those_stated():
    texts = ["a a b", "a c", "b b c d"]
    material = Material("m", tuple(Claim(id=t, text=t) for t in texts), (), (Query(id="q"),))
    encoder = TfidfEncoder.fit([material], dimension=4)
    df = {"a": 2, "b": 2, "c": 2, "d": 1}
    counts = np.array([[t.split().count(w) for w in df] for t in texts], dtype=float)
    damped = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    weights = unit_rows(damped * np.log(4 / np.array(list(df.values()))) ** 2)
    encoded = encoder.encode(texts)
    assert encoded @ encoded.T == pytest.approx(weights @ weights.T, abs=1e-9)  # full rank


def test_tfidf_is_reproducible_and_comes_back_exactly(tmp_path):
    path = tmp_path / "encoder"
    encoder = TfidfEncoder.fit([odyssey(), odyssey_composite()], dimension=5, seed=3)
    again = TfidfEncoder.fit([odyssey(), odyssey_composite()], dimension=5, seed=3)
    assert (encoder.components == again.components).all()
    encoder.save(path)
    loaded = TfidfEncoder.load(path)
    assert loaded.terms == encoder.terms
    assert (loaded.encode(TEXTS) == encoder.encode(TEXTS)).all()
    assert list(tmp_path.iterdir()) == [path]


def test_tfidf_needs_words():
    material = Material("m", (Claim(id="c", text="one one"),), (), (Query(id="q", text="two"),))
    with pytest.raises(ValueError, match="fewer than two"):
        TfidfEncoder.fit([material])


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04", None])
def test_tfidf_refuses_other_files(content, tmp_path):
    path = tmp_path / "other.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MaterialError, match=r"other\.npz"):
        TfidfEncoder.load(path)


def test_tfidf_refuses_arrays_and_pickles_of_others(tmp_path):
    for name, arrays in {
        "a": {"x": np.ones(2)},
        "b": {"format": np.array([{}], dtype=object)},
    }.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(MaterialError, match="is no encoder"):
            TfidfEncoder.load(tmp_path / f"{name}.npz")
    np.save(tmp_path / "c.npy", np.ones(3))
    with pytest.raises(MaterialError, match="is no encoder"):
        TfidfEncoder.load(tmp_path / "c.npy")


# --- materials ------------------------------------------------------------------------------------


def test_embed_gives_vectors_to_claims_and_queries():
    encoder = HashingEncoder(8)
    material = embed(odyssey(), encoder)
    assert material.has_embeddings
    assert all(item.embedding is None for item in material.items)
    assert material.claims[2].embedding == tuple(encoder.encode([material.claims[2].text])[0])
    for mine, computed in zip(
        embeddings(material), embeddings(odyssey(), HashingEncoder(8)), strict=True
    ):
        assert mine == pytest.approx(computed, abs=1e-12)


def test_an_item_has_its_own_vector_or_the_mean_of_its_first_support():
    material = Material(
        "m",
        (Claim(id="a", embedding=(2.0, 0.0)), Claim(id="b", embedding=(0.0, 2.0))),
        (
            Item(id="n", supports=(("a", "b"), ("a",)), answers=("q",)),
            Item(id="own", supports=(("a",),), answers=("q",), embedding=(0.0, -5.0)),
        ),
        (Query(id="q", embedding=(0.0, 0.0)),),
    )
    claims, items, queries = embeddings(material, HashingEncoder(7))
    assert claims.tolist() == [[1, 0], [0, 1]]
    assert items == pytest.approx(np.array([[0.5**0.5, 0.5**0.5], [0, -1]]))
    assert queries.tolist() == [[0, 0]]


@given(materials())
def test_embeddings_fit_the_material_and_are_kept(material):
    vectors = embeddings(material)
    counts = (len(material.claims), len(material.items), len(material.queries))
    for rows, count in zip(vectors, counts, strict=True):
        assert rows.shape == (count, vectors[0].shape[1])
        assert rows.dtype == np.float64
        assert unit_or_zero(rows)
        assert not rows.flags.writeable
    assert embeddings(material, HashingEncoder())[0] is vectors[0]
