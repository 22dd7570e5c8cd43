"""Counts, grades and values of the transition graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from bisimulations import ROLES, Reference, play, streams
from memenvs.policies.bisimulation import FAILURE, NEITHER, PAPER, SUCCESS, TransitionMemory
from memenvs.policies.bisimulation.graph import TERMINALS, values

SIZES = settings(max_examples=40, deadline=None)


def name(memory, node):
    """Page or role of a node."""
    return ROLES[node] if node < TERMINALS else memory.pages()[node - TERMINALS][0]


@SIZES
@given(streams())
def test_edges_hold_every_transition_with_its_count_and_grade(stream):
    memory = play(TransitionMemory("action-conditioned"), stream, lambda memory: memory.partition())
    reference = Reference(stream)
    templates = memory.templates()
    found = {
        (name(memory, source), templates[action], name(memory, target)): (count, grade)
        for (source, action, target, count, _), grade in zip(
            memory.graph.edges.T.tolist(), memory.graph.grades.tolist(), strict=True
        )
    }
    assert found == {
        tuple(step): (n, reference.grade(step.before, step.after))
        for step, n in reference.counts.items()
    }


@SIZES
@given(streams())
def test_values_solve_the_discounted_occupancy(stream):
    graph = play(TransitionMemory("action-conditioned"), stream).graph
    source, _, target, count, _ = graph.edges
    step = np.zeros((graph.nodes, graph.nodes))
    np.add.at(step, (source, target), count)
    step /= np.maximum(step.sum(axis=1, keepdims=True), 1)
    step[range(TERMINALS), range(TERMINALS)] = 1.0
    reward = np.zeros(graph.nodes)
    reward[SUCCESS], reward[FAILURE] = 1.0, -1.0
    solved = 0.2 * np.linalg.solve(np.eye(graph.nodes) - 0.8 * step, reward)
    found = values(graph, 0.8, np.zeros(0))
    np.testing.assert_allclose(found, solved, atol=1e-11)
    np.testing.assert_allclose(values(graph, 0.8, found[: graph.nodes // 2]), solved, atol=1e-11)


def test_values_at_the_terminals_and_on_the_way_there():
    memory = TransitionMemory("action-conditioned")
    memory.begin(5, 0)
    memory.record(5, 0, 6, 0, 0.0, False)
    memory.record(6, 0, 0, 0, 1.0, True)
    found = values(memory.graph, 0.8, np.zeros(0))
    assert found.tolist() == pytest.approx([1.0, -1.0, 0.0, 0.64, 0.8])


@pytest.mark.parametrize(
    ("reward", "role", "terminal"),
    [
        (1.0, None, SUCCESS),
        (-1.0, None, FAILURE),
        (0.0, None, NEITHER),
        (1.0, NEITHER, NEITHER),
        (0.0, SUCCESS, SUCCESS),
    ],
)
def test_the_last_step_leads_to_the_terminal_of_its_role(reward, role, terminal):
    memory = TransitionMemory("action-conditioned")
    memory.begin(5, 0)
    memory.record(5, 0, 5, 0, reward, True, role)
    assert memory.graph.edges[2].tolist() == [terminal]
    assert memory.graph.grades.tolist() == [1]  # no self-loop, although the page stayed


def test_a_page_is_known_before_it_is_left_and_keeps_its_label():
    memory = TransitionMemory("action-conditioned")
    with pytest.raises(ValueError, match="signature 5 is unknown"):
        memory.record(5, 0, 6, 0, 0.0, False)
    assert memory.rerank(5, [0, 1]) == 0  # silent
    assert memory.evidence(5, [0]).total == 0
    memory.begin(5, 0)
    with pytest.raises(ValueError, match="another label"):
        memory.begin(5, 1)
    with pytest.raises(ValueError, match="means an unknown action"):
        memory.record(5, -1, 6, 0, 0.0, False)
    with pytest.raises(ValueError, match="role=3 is unknown"):
        memory.record(5, 0, 6, 0, 0.0, True, 3)
    assert memory.constants is PAPER
