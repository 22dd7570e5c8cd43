"""Whether an answer is right: the same words, how many of them, or a judge's word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from memenvs.text.chat import Chat
from memenvs.text.encoders import words

Correct = Callable[[str, str, str], float]  # question, given answer, right answer: in [0, 1]

ARTICLES = {"a", "an", "the"}
PROMPT = (
    "Does the given answer say the same as the right answer to the question? Reply with JSON "
    'alone: {{"correct": true}} or {{"correct": false}}.\nQuestion: {}\nRight answer: {}\n'
    "Given answer: {}"
)


def exact_match(question: str, given: str, right: str) -> float:
    """Give 1.0 where both have the same words in the same order: no case, punctuation, articles."""
    return float(bool(_words(right)) and _words(given) == _words(right))


def f1(question: str, given: str, right: str) -> float:
    """Harmonic mean of the shares of words that are shared, as in SQuAD (Rajpurkar et al., 2016).

    Words are normalised as for the exact match.
    """
    mine, theirs = _words(given), _words(right)
    shared = (Counter(mine) & Counter(theirs)).total()
    return 2 * shared / (len(mine) + len(theirs)) if shared else 0.0


class AnswerJudge:
    """Asks a model whether an answer is right, unless the words say so."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def __call__(self, question: str, given: str, right: str) -> float:
        """Give 1.0 for a right answer, else 0.0; raises ``ServerError``."""
        if not given.strip():
            return 0.0
        if exact_match(question, given, right):
            return 1.0
        return float(self.chat.field(PROMPT.format(question, right, given), "correct", bool))


def _words(text: str) -> list[str]:
    return [word for word in words(text) if word not in ARTICLES]
