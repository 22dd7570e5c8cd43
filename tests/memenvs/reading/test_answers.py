"""What is right, and what is answered: words by hand, spans by hand, a model behind a server."""

import json

import pytest

from chat_server import chat_server
from memenvs.reading.answerers import BestSpan, ModelAnswerer, added
from memenvs.reading.correct import AnswerJudge, exact_match, f1
from memenvs.text.chat import Chat


@pytest.mark.parametrize(
    ("given", "right", "exact", "overlap"),
    [
        ("The Eiffel Tower!", "eiffel tower", 1, 1),
        ("tower Eiffel", "Eiffel Tower", 0, 1),
        ("in Paris, France", "Paris", 0, 2 * 1 / (3 + 1)),
        ("no no no", "no", 0, 2 * 1 / (3 + 1)),  # a word is shared as often as in both
        ("Rome", "Paris", 0, 0),
        ("", "Paris", 0, 0),
        ("the", "a", 0, 0),  # nothing but articles says nothing
        ("柏林", "柏林", 1, 1),
    ],
)
def test_words_by_hand(given, right, exact, overlap):
    assert exact_match("", given, right) == exact
    assert f1("", given, right) == pytest.approx(overlap)


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("What did Anna order?", "Anna ordered the blue kettle.", "the blue kettle"),
        ("When was Bob born?", "Bob was born on 3.4.1990, in Bonn", "on 3.4.1990, in Bonn"),
        ("Who likes tea?", "Well, Tom likes tea", "Well, Tom"),
        ("Tom likes tea?", "Tom likes tea.", "Tom likes tea."),  # nothing is added
        ("x", "a x b", "a"),  # the first of equals
    ],
)
def test_the_longest_part_that_a_text_adds(question, text, answer):
    assert added(question, text) == answer


def test_the_text_most_similar_to_the_question_is_used():
    span = BestSpan()
    texts = ["It rained in Rome", "Anna ordered the blue kettle", "Bob sold a car"]
    assert span("What did Anna order?", texts) == "the blue kettle"
    assert span("Where did it rain?", texts) == "in Rome"
    assert span("Where did it rain?", []) == ""


def test_a_model_sees_what_was_read_and_the_question():
    with chat_server(lambda prompt: json.dumps({"answer": "kettle"})) as server:
        answer = ModelAnswerer(Chat(server.url, "m", "reasoner"))
        asked = [("What did Anna order?", ["Anna ordered a kettle", "It rains"]), ("What?", [])]
        assert answer.all(asked) == ["kettle", ""]
        (prompt,) = server.prompts
        assert json.loads(prompt.splitlines()[-1]) == {
            "statements": ["Anna ordered a kettle", "It rains"],
            "question": "What did Anna order?",
        }


def test_a_judge_is_asked_where_words_do_not_tell():
    def rule(prompt):
        told = json.loads(prompt.splitlines()[-1])
        return json.dumps({"correct": (told["right"], told["given"]) == ("kettle", "pot")})

    with chat_server(rule) as server:
        judge = AnswerJudge(Chat(server.url, "m", "judge"))
        given = ("The kettle", " ")
        assert judge([("What?", each, "kettle") for each in given]) == [1, 0]
        assert not server.prompts
        given = ("pot", "kettle", "car", "pot")
        assert judge([("What?", each, "kettle") for each in given]) == [1, 1, 0, 1]
        assert len(server.prompts) == 2
