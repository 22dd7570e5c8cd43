"""In which order a scenario's subtasks are worked on: interruptions, returns, completions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memenvs.materials.poisoning.records import Event, Subtask

INTERRUPTED = 0.3  # share of the subtasks, but the last, that another one interrupts
REOPENED = 1 / 3  # of these: completed before they were left, so that a return reopens them


def draw_timeline(
    sizes: Sequence[int], subtasks: Sequence[Subtask], generator: np.random.Generator
) -> tuple[list[tuple[int, int]], tuple[Event, ...]]:
    """Give the order of the entries as (subtask, place within it), and all events.

    ``sizes`` are the numbers of the subtasks' entries. An interrupted subtask is left after some of
    its entries and returned to after the whole of the next one.
    """
    order: list[tuple[int, int]] = []
    events: list[Event] = []

    def work(number: int, places: range) -> None:
        for place in places:
            events.append(Event("record", len(order)))
            events.append(Event("prompt", len(order)))
            order.append((number, place))

    def complete(number: int) -> None:
        if subtasks[number].finished:
            events.append(Event("complete", number))

    number = 0
    while number < len(sizes):
        events.append(Event("begin", number))
        size = sizes[number]
        if number + 1 == len(sizes) or generator.random() >= INTERRUPTED:
            work(number, range(size))
            complete(number)
            number += 1
            continue
        first = int(generator.integers(1, size))
        work(number, range(first))
        if generator.random() < REOPENED:
            complete(number)
        events.append(Event("begin", number + 1))
        work(number + 1, range(sizes[number + 1]))
        complete(number + 1)
        events.append(Event("return", number))
        work(number, range(first, size))
        complete(number)
        number += 2
    events.append(Event("prompt", len(order)))
    return order, tuple(events)
