"""Histories of agents that keep a weighted tree, drawn at random and played."""

import numpy as np
from hypothesis import strategies as st

WORDS = "red blue green stone river cloud tower garden winter copper".split()
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
outcomes = st.sampled_from(["success", "failure", None])


@st.composite
def histories(draw):
    """Events of an agent, with the steps at which it asks for a context."""
    events = [("begin", draw(texts))]
    for _ in range(draw(st.integers(1, 16))):
        what = draw(st.sampled_from(["begin", "action", "action", "context", "complete", "return"]))
        events.append((what, draw(texts), draw(outcomes), draw(st.integers(0, 60))))
    return events


def played(tree, events):
    """Play events on a tree; gives the contexts."""
    contexts = []
    for number, (what, text, *rest) in enumerate(events):
        if what == "begin" or tree.active is None:
            tree.begin_task(text)
        elif what == "action":
            tree.record_action(text, rest[0])
        elif what == "context":
            contexts.append((tree.context(text, rest[1], number), rest[1]))
        elif what == "complete":
            tree.complete(result=text)
        else:
            tasks = np.flatnonzero(tree.nodes.kind <= 1)
            tree.return_to(int(tasks[rest[1] % len(tasks)]))
    return contexts
