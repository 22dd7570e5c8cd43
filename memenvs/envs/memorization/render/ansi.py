"""An episode as lines of text: what is stored, what is considered, what was just settled."""

from __future__ import annotations

from memenvs.envs.memorization.render.scene import Question, Scene, Slot

WIDTH = 96
SLOTS = 20  # lines of slots; a larger memory is cut
QUERIES = 8


def as_text(scene: Scene, slots: int = SLOTS) -> str:
    """Write a scene in at most 96 columns; truth and utilities only where the scene reveals them.

    Of the occupied slots the first ``slots`` are listed, of the queries the first eight.
    """
    return "\n".join([*_head(scene), _considered(scene), *_memory(scene, slots), *_queries(scene)])


def shorten(text: str, width: int) -> str:
    """Bring a text onto one line of ``width`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: max(width - 3, 0)] + "..."


def claim_words(scene: Scene, claim: int, width: int) -> str:
    """Name a claim and quote it, its truth in front where the scene reveals it."""
    record = scene.material.claims[claim]
    truth = f"{_truth(record.truth)} " if scene.reveals else ""
    return shorten(f"{truth}{record.id} {scene.words(claim)}", width)


def _truth(truth: float) -> str:
    if truth in (0.0, 1.0):
        return "true " if truth else "FALSE"
    return f"p={truth:.1f}"


def _head(scene: Scene) -> list[str]:
    stored = int(scene.stored.sum())
    parts = [
        scene.material.name,
        f"decision {min(scene.decision + 1, scene.decisions)} of {scene.decisions}",
        f"memory {stored} of {len(scene.slots)}",
        f"settled {len(scene.outcomes)}, right {sum(scene.outcomes)}, earned {scene.earned:.2f}",
    ]
    lines = [shorten(" | ".join(parts), WIDTH)]
    if scene.reveals:
        words = [
            f"{each.name} {each.value:.2f} ({'best' if each.best.proved else 'at most'} "
            f"{each.best.value:.2f})"
            for each in scene.measures
        ]
        lines.append(" | ".join(words))
    return lines


def _considered(scene: Scene) -> str:
    if scene.considered is not None:
        return f"considered  {claim_words(scene, scene.considered, WIDTH - 12)}"
    if scene.decision >= scene.decisions:
        return "considered  nothing: the episode is over"
    return "considered  nothing: a claim is to be picked"


def _memory(scene: Scene, most: int) -> list[str]:
    occupied = [slot for slot in scene.slots if slot.claim is not None]
    if not occupied:
        return ["stored      nothing"]
    lines = ["stored", *(_slot(scene, slot) for slot in occupied[:most])]
    if len(occupied) > most:
        lines.append(f"     and {len(occupied) - most} more")
    return lines


def _slot(scene: Scene, slot: Slot) -> str:
    assert slot.claim is not None
    marks = [f"+{slot.credits} -{slot.debits}"] if slot.credits or slot.debits else []
    marks += ["new"] if slot.fresh else []
    tail = " ".join(marks)
    words = claim_words(scene, slot.claim, WIDTH - 7 - (len(tail) + 2 if tail else 0))
    line = f"{slot.number:>4}   {words}"
    return f"{line:<{WIDTH - len(tail)}}{tail}".rstrip()


def _queries(scene: Scene) -> list[str]:
    fresh = [question for question in scene.settled if question.fresh]
    if fresh:
        return ["settled", *_listed(fresh)]
    return ["known queries", *_listed(scene.known)] if scene.known else []


def _listed(questions: list[Question] | tuple[Question, ...]) -> list[str]:
    lines = [_question(question) for question in questions[:QUERIES]]
    if len(questions) > QUERIES:
        lines.append(f"     and {len(questions) - QUERIES} more")
    return lines


def _question(question: Question) -> str:
    if question.mass is not None:
        mark = f"{question.mass:.2f}"
        mark += {None: "", True: " answered", False: " open"}[question.right]
    else:
        mark = "right" if question.right else "wrong"
        mark += f" x{question.times}" if question.times > 1 else ""
    by = "  " + shorten(f"({' '.join(question.claims)})", 28) if question.claims else ""
    return f"     {mark:<5} {shorten(question.text, WIDTH - 12 - len(mark) - len(by))}{by}"
