"""The question-answering example runs, on a built-in text and on a real conversation."""

import importlib.util
from pathlib import Path

import pytest

from memenvs.materials.datasets.conversion import convert
from memenvs.materials.odyssey import odyssey

ROOT = Path(__file__).parents[2]
FILE = ROOT.parent / "shared" / "data" / "locomo" / "locomo6.json"

spec = importlib.util.spec_from_file_location(
    "answer_questions", ROOT / "docs" / "examples" / "answer_questions.py"
)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)


def test_everything_kept_answers_at_least_what_little_kept_does():
    shares = [example.answer_questions(odyssey(), "fifo", capacity) for capacity in (1, 3, 6)]
    assert shares == sorted(shares)
    assert shares[-1] > 0


def test_the_agent_answers_from_what_it_finds():
    material = odyssey()
    memory = example.WriteMemory("fifo", 6)
    for claim in material.claims:
        memory.add(claim.text)
    for query in material.queries:
        right, used = example.answer(material, memory, query.id)
        assert right == bool(used)
        named = {material.claims[number].id for number in used}
        supports = [s for item in material.items if query.id in item.answers for s in item.supports]
        assert not used or named in map(set, supports)


@pytest.mark.skipif(not FILE.exists(), reason="LoCoMo is not there")
def test_a_conversation_is_read_and_asked_about():
    conversation = convert("locomo", FILE).materials[0]
    shares = {
        capacity: example.answer_questions(conversation, "longest", capacity)
        for capacity in (20, 200)
    }
    assert 0 < shares[20] < shares[200] < 1
