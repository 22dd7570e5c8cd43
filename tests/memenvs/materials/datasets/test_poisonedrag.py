"""PoisonedRAG: false texts beside true ones, and files of another shape."""

import json
from pathlib import Path

import pytest

from memenvs import MaterialError
from memenvs.materials.datasets.conversion import convert
from memenvs.materials.datasets.poisonedrag import read_poisonedrag

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "poisonedrag"


def row(**more):
    return {
        "id": "t1",
        "question": "Who sings it?",
        "correct answer": "Ada",
        "incorrect answer": "Bob",
        "adv_texts": ["Bob sings it.", "It is Bob's song."],
        **more,
    }


def write(tmp_path, document):
    path = tmp_path / "small.json"
    path.write_text(json.dumps(document))
    return path


def test_false_texts_inflate_and_the_true_one_answers(tmp_path):
    (material,) = read_poisonedrag(write(tmp_path, {"t1": row()})).materials
    assert material.name == "small-1-1"
    assert material.claim_ids == ("t1:reference-0", "t1:injected-0", "t1:injected-1")
    assert [claim.truth for claim in material.claims] == [1.0, 0.0, 0.0]
    assert material.claims[0].text == "Who sings it? Ada"
    assert material.queries[0].answer == "Ada"
    assert material.water_inflation(["t1:injected-1"]) == 1.0
    assert material.precision(["t1:injected-1", "t1:reference-0"]) == 1.0


def test_false_texts_stand_as_in_the_attack_or_alone(tmp_path):
    path = write(tmp_path, {"t1": row()})
    for form, text in (("attacked", "Who sings it?. Bob sings it."), ("bare", "Bob sings it.")):
        (material,) = read_poisonedrag(path, form=form).materials
        assert material.claims[1].text == text
    (default,) = read_poisonedrag(path).materials
    assert default.claims[1].text == "Who sings it?. Bob sings it."
    with pytest.raises(ValueError, match="form 'loud' is unknown; choose from attacked, bare"):
        read_poisonedrag(path, form="loud")


def test_true_texts_are_taken_where_there_are_some(tmp_path):
    document = {"t1": row(**{"true texts": ["Ada sings.", "Ada's song."]}), "t2": row()}
    conversion = read_poisonedrag(write(tmp_path, document), questions=1)
    first, second = conversion.materials
    assert [claim.text for claim in first.claims[:2]] == ["Ada sings.", "Ada's song."]
    assert second.name == "small-2-2"
    assert [note.record for note in conversion.notes] == ["question 't2'"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "holds a list, not an object of questions"),
        ({}, "holds no question"),
        ({"t1": 3}, "question 't1'"),
        ({"t1": row(question="")}, "'question'.*is empty"),
        ({"t1": row(adv_texts=[])}, "adv_texts.*is empty"),
        ({"t1": row(adv_texts=["x", 2])}, r"adv_texts\[1\].*is no text"),
        ({"t1": {"question": "Who?"}}, "correct answer.*is missing"),
    ],
)
def test_other_shapes_are_named(tmp_path, document, problem):
    with pytest.raises(MaterialError, match=problem) as caught:
        convert("poisonedrag", write(tmp_path, document))
    assert "small.json" in str(caught.value)


def test_no_questions_a_material_is_refused(tmp_path):
    with pytest.raises(ValueError, match="questions is 0"):
        read_poisonedrag(write(tmp_path, {"t1": row()}), questions=0)


@pytest.mark.parametrize("name", ["nq", "hotpotqa"])
@pytest.mark.skipif(not DATA.exists(), reason="the published files are not here")
def test_the_published_files(name):
    conversion = read_poisonedrag(DATA / f"{name}.json")
    assert [len(material.claims) for material in conversion.materials] == [120] * 5
    assert sum(claim.truth == 0 for m in conversion.materials for claim in m.claims) == 500
