"""The card of a saved model: it comes back equal, and a bad one says what is wrong."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import gymnasium as gym
import pytest

import memenvs  # noqa: F401 - registers the environments
from memenvs.policies.learned.saved import ENTRY, ModelCard, column_names, read_card, write_card
from memenvs.storage.reading import sealed

CARD = ModelCard(
    kind="sb3",
    algorithm="maskable-ppo",
    network="pointer",
    settings={"env": "memenvs/Readable-v0"},
    columns={"claim": ["embedding*16", "confidence"]},
    rules={"capacity": 6, "every": 4},
    encoder={"name": "hashing", "dimension": 64},
    trained_on=["readable-train"],
    seed=3,
    steps=1000,
    versions={"memenvs": "0.1"},
)
DOCUMENT = asdict(CARD) | {"format": "memenvs.model/1", "entries": {}}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "best_model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("policy.pth", bytes(range(256)))
        archive.writestr("data", "{}")
    return path


def test_a_card_comes_back_equal_and_leaves_the_model_as_it_was(model: Path) -> None:
    write_card(model, CARD)
    assert read_card(model) == CARD
    with zipfile.ZipFile(model) as archive:
        assert archive.read("policy.pth") == bytes(range(256))
        assert sorted(archive.namelist()) == ["data", ENTRY, "policy.pth"]


def test_a_second_card_replaces_the_first(model: Path) -> None:
    write_card(model, CARD)
    write_card(model, replace(CARD, seed=4))
    assert read_card(model).seed == 4
    with zipfile.ZipFile(model) as archive:
        assert archive.namelist().count(ENTRY) == 1


def test_nothing_is_left_beside_the_model(model: Path) -> None:
    write_card(model, CARD)
    assert [path.name for path in model.parent.iterdir()] == ["best_model.zip"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "is no model that memenvs saved"),
        ("{", "is no model that memenvs saved"),
        (json.dumps(sealed(DOCUMENT) | {"seed": 4}), "was changed or damaged"),
        (json.dumps(sealed(DOCUMENT | {"format": "memenvs.model/9"})), "is another version"),
        (
            json.dumps(sealed({k: v for k, v in DOCUMENT.items() if k != "rules"})),
            "'rules' is missing",
        ),
        (json.dumps(sealed(DOCUMENT | {"extra": 1})), "'extra' is unknown"),
        (json.dumps(sealed(DOCUMENT | {"steps": "many"})), "'steps' is no int"),
        (json.dumps(sealed(DOCUMENT | {"kind": "jax"})), "sb3, estimator"),
        (json.dumps(sealed(DOCUMENT | {"columns": {"claim": 3}})), "'claim' is no list of texts"),
        (json.dumps(sealed(DOCUMENT | {"trained_on": [1]})), "'trained_on' is no list of texts"),
    ],
)
def test_a_bad_card_says_what_is_wrong(model: Path, content: str, words: str) -> None:
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr(ENTRY, content)
    with pytest.raises(ValueError, match=words) as error:
        read_card(model)
    assert str(model) in str(error.value)


def test_a_file_that_is_no_model_says_so(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no 'memenvs\.json'"):
        read_card(model)
    (tmp_path / "text").write_text("no zip")
    for path, words in ((tmp_path / "text", "no zip file"), (tmp_path / "none", "cannot be read")):
        with pytest.raises(ValueError, match=words):
            read_card(path)
        with pytest.raises(ValueError, match=words):
            write_card(path, CARD)


def test_columns_are_named_with_their_widths() -> None:
    env = gym.make("memenvs/Readable-v0").unwrapped
    layout = env.get_wrapper_attr("layout")
    names = column_names(layout)
    assert names["claim"][0] == f"embedding*{layout.limits.embedding}"
    for array in ("claim", "memory", "queries", "context"):
        widths = [int(name.partition("*")[2] or 1) for name in names[array]]
        assert sum(widths) == getattr(layout, array).width
    assert {f"cues.{cue}" for cue in layout.limits.cues} < set(names["claim"])
