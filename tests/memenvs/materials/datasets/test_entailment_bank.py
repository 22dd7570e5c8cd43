"""EntailmentBank: trees of our own, and the counts of the real data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memenvs import MaterialError, load_materials
from memenvs.materials.datasets.conversion import convert
from memenvs.materials.datasets.entailment_bank import read_entailment_bank

REAL = Path(__file__).parents[3].parent / "shared" / "data" / "entailment_bank" / "task_2_dev.jsonl"


def tree(name="t1", **changes):
    return {
        "id": name,
        "context": "sent1: iron is a metal sent2: a metal conducts sent3: fish sent4: it rains",
        "proof": "sent1 & sent2 -> int1: iron conducts; int1 & sent4 -> hypothesis; ",
        "hypothesis": f"iron conducts in rain ({name})",
        **changes,
    }


def write(tmp_path, *trees):
    path = tmp_path / "trees.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in trees))
    return path


def test_steps_become_items_over_their_leaves(tmp_path):
    conversion = read_entailment_bank(write(tmp_path, tree()))
    (material,) = conversion.materials
    assert conversion.notes == ()
    assert [(c.id, c.text, c.group, c.source) for c in material.claims] == [
        ("t1:sent1", "iron is a metal", "t1", ""),
        ("t1:sent2", "a metal conducts", "t1", ""),
        ("t1:sent3", "fish", "t1", ""),
        ("t1:sent4", "it rains", "t1", ""),
    ]
    assert [(i.id, i.text, i.supports, i.answers) for i in material.items] == [
        ("t1:int1", "iron conducts", (("t1:sent1", "t1:sent2"),), ("t1:int1",)),
        (
            "t1:hypothesis",
            "iron conducts in rain (t1)",
            (("t1:sent1", "t1:sent2", "t1:sent4"),),
            ("t1:hypothesis",),
        ),
    ]
    assert [q.text for q in material.queries] == ["iron conducts", "iron conducts in rain (t1)"]


def test_equal_sentences_and_conclusions_are_one(tmp_path):
    other = tree(
        "t2",
        context="sent1: copper shines sent2: iron is a metal sent3: iron shines",
        proof="sent1 & sent3 -> int1: iron conducts; int1 & sent2 -> hypothesis; ",
    )
    (material,) = read_entailment_bank(write(tmp_path, tree(), other)).materials
    assert len(material.claims) == 6
    shared = material.items[0]
    assert shared.supports == (("t1:sent1", "t1:sent2"), ("t2:sent1", "t2:sent3"))
    assert [(q.id, q.weight) for q in material.queries] == [
        ("t1:int1", 2.0),
        ("t1:hypothesis", 1.0),
        ("t2:hypothesis", 1.0),
    ]
    assert material.items[2].supports == (("t1:sent1", "t2:sent1", "t2:sent3"),)
    assert material.coverage(["t2:sent1", "t2:sent3"]) == 0.5


def test_a_sentence_twice_in_one_tree_is_one_claim(tmp_path):
    twice = tree(context="sent1: a sent2: b sent3: a sent4: c")
    (material,) = read_entailment_bank(write(tmp_path, twice)).materials
    assert material.claim_ids == ("t1:sent1", "t1:sent2", "t1:sent4")


def test_trees_are_grouped_in_order(tmp_path):
    path = write(tmp_path, *(tree(f"t{n}") for n in range(5)))
    conversion = read_entailment_bank(path, trees=2)
    assert [m.name for m in conversion.materials] == ["trees-1-2", "trees-3-4", "trees-5-5"]
    assert [m.claims[0].group for m in conversion.materials] == ["t0", "t2", "t4"]
    with pytest.raises(ValueError, match="trees is 0"):
        read_entailment_bank(path, trees=0)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("sent1 & sent9 -> int2: no", "rests on what"),
        ("sent1 & int9 -> int2: no", "rests on what"),
        ("sent1 & sent3 -> int1: again", "concludes again"),
        ("sent1 -> sent2", "is not of the form"),
        ("sent1 & -> int2: no", "is not of the form"),
        ("-> int2: no", "is not of the form"),
        ("sent1 -> int2: ", "is not of the form"),
    ],
)
def test_a_step_that_cannot_be_resolved_is_left_out(step, reason, tmp_path):
    proof = f"sent1 & sent2 -> int1: iron conducts; {step}; int1 & sent4 -> hypothesis"
    conversion = read_entailment_bank(write(tmp_path, tree(proof=proof)))
    assert len(conversion.materials[0].items) == 2
    (note,) = conversion.notes
    assert (note.kind, note.record, note.field) == ("left out", "tree 't1'", "proof")
    assert note.found == step.strip()
    assert note.reason.startswith(reason)
    with pytest.raises(MaterialError, match="strict"):
        conversion.save(tmp_path / "out.jsonl", strict=True)


def test_what_rests_on_a_step_left_out_is_left_out(tmp_path):
    proof = "sent9 -> int1: no; sent1 & sent2 -> int2: yes; int1 & int2 -> hypothesis"
    conversion = read_entailment_bank(write(tmp_path, tree(proof=proof)))
    assert [item.text for item in conversion.materials[0].items] == ["yes"]
    assert [note.field for note in conversion.notes] == ["proof", "proof", "hypothesis"]


BAD = {
    "a list": ([], "line 2", ""),
    "no id": ({k: v for k, v in tree("t2").items() if k != "id"}, "line 2", "id"),
    "id a number": (tree(2), "line 2", "id"),
    "empty id": (tree(""), "line 2", "id"),
    "no context": ({k: v for k, v in tree("t2").items() if k != "context"}, "line 2", "context"),
    "context a list": (tree("t2", context=[]), "line 2", "context"),
    "context without sentences": (tree("t2", context="iron"), "line 2", "context"),
    "words before": (tree("t2", context="so sent1: iron"), "line 2", "context"),
    "sentence twice": (tree("t2", context="sent1: a sent1: b"), "line 2", "context"),
    "sentence empty": (tree("t2", context="sent1: sent2: b"), "line 2", "context"),
    "proof null": (tree("t2", proof=None), "line 2", "proof"),
    "hypothesis empty": (tree("t2", hypothesis=" "), "line 2", "hypothesis"),
    "tree twice": (tree("t1"), "", "id"),
}


@pytest.mark.parametrize("kind", BAD)
def test_another_shape_is_refused_in_one_sentence(kind, tmp_path):
    value, record, field = BAD[kind]
    path = write(tmp_path, tree(), value)
    with pytest.raises(MaterialError) as caught:
        read_entailment_bank(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert record in message
    assert f"field '{field}'" in message or not field


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    for content, problem in (
        (b"", "is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (json.dumps(tree(), indent=1).encode(), "line 1: is not valid JSON"),
        (json.dumps(tree(proof="")).encode(), r"trees-1-1 \(line 1 to line 1\), field 'queries'"),
    ):
        path.write_bytes(content)
        with pytest.raises(MaterialError, match=problem):
            read_entailment_bank(path)
    with pytest.raises(MaterialError, match="cannot be read"):
        read_entailment_bank(tmp_path)


def test_a_material_comes_back_equal(tmp_path):
    conversion = convert("entailment-bank", write(tmp_path, tree()))
    conversion.save(tmp_path / "out", strict=True)
    assert load_materials(tmp_path / "out") == list(conversion.materials)


def test_real_counts():
    if not REAL.exists():
        pytest.skip(f"EntailmentBank is not at {REAL}")
    conversion = read_entailment_bank(REAL)
    assert conversion.notes == ()
    *full, rest = conversion.materials
    assert [len(m.claims) for m in full] == [369, 384, 410, 368, 430, 378, 378, 377, 345]
    assert [len(m.queries) for m in full] == [40, 65, 62, 60, 115, 71, 70, 49, 49]
    assert (rest.name, len(rest.claims), len(rest.queries)) == ("trees-181-187", 154, 13)
    sizes = [len(s) for m in conversion.materials for i in m.items for s in i.supports]
    assert np.mean(sizes) == pytest.approx(3.59, abs=0.01)
    assert all(m.coverage(m.claim_ids) == pytest.approx(1.0) for m in conversion.materials)
