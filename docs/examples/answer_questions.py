"""A small question-answering loop over a conversation: read, keep what a policy keeps, answer.

    python docs/examples/answer_questions.py FILE [POLICY] [CAPACITY]

FILE holds one material or several, as `memenvs convert locomo` writes them; POLICY is the path of a
trained model or a policy's name. The agent reads turn by turn. After every ten turns it is asked a
question about what was said so far, looks into its memory, and learns whether its answer was right.
"""

from __future__ import annotations

import random
import sys

from memenvs import Material
from memenvs.material.files import load_materials
from memenvs.policies import WriteMemory

BETWEEN = 10  # turns between questions
READ = 5  # stored turns that the agent looks at for an answer


def answer_questions(material: Material, policy: str, capacity: int, seed: int = 0) -> float:
    """Read a material and answer its questions; gives the share answered by the final memory."""
    chance = random.Random(seed)
    memory = WriteMemory(policy, capacity, claims=len(material.claims), seed=seed)
    said: set[str] = set()
    for number, claim in enumerate(material.claims, start=1):
        memory.add(claim.text, claim.source, claim.time, claim.confidence, group=claim.group)
        said.add(claim.id)
        asked = [item for item in material.items if item.answers]
        known = [item for item in asked if any(said >= set(s) for s in item.supports)]
        if number % BETWEEN == 0 and known:
            query = chance.choice(chance.choice(known).answers)
            right, used = answer(material, memory, query)
            memory.settled(wording(material, query), right, used)
    answered = [answer(material, memory, query.id)[0] for query in material.queries]
    return sum(answered) / len(answered)


def answer(material: Material, memory: WriteMemory, query: str) -> tuple[bool, list[int]]:
    """Look into the memory; gives whether that is enough to answer, and the turns it takes.

    This stands in for a language model and for a person who says whether it was right.
    """
    entries = memory.search(wording(material, query), READ)
    found = {material.claims[entry.number].id: entry.number for entry in entries}
    for item in material.items:
        for support in item.supports if query in item.answers else ():
            if found.keys() >= set(support):
                used = [found[claim] for claim in support]
                return all(material.claims[number].truth for number in used), used
    return False, []


def wording(material: Material, query: str) -> str:
    """Text of a question."""
    return next(each.text for each in material.queries if each.id == query)


if __name__ == "__main__":
    file, *given = sys.argv[1:]
    policy, capacity = given[0] if given else "trust", given[1] if len(given) > 1 else "100"
    for conversation in load_materials(file):
        share = answer_questions(conversation, policy, int(capacity))
        print(f"{conversation.name}: {share:.0%} of {len(conversation.queries)} questions")
