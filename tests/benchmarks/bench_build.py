"""How long `memenvs build` takes: 10 000 sentences, 500 questions, half of them with evidence."""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from memenvs.train.own_material.build import build

SENTENCES, QUESTIONS, WORDS, RUNS = 10_000, 500, 20_000, 3


def write(folder: Path) -> None:
    """Write sentences of words as frequent as in languages, and questions about some."""
    draw = random.Random(0)
    letters = [consonant + vowel for consonant in "bcdfghklmnprstvz" for vowel in "aeiou"]
    words = ["".join(draw.choices(letters, k=draw.randint(1, 4))) for _ in range(WORDS)]
    weights = [1 / (place + 1) for place in range(WORDS)]
    texts = [draw.choices(words, weights, k=draw.randint(6, 20)) for _ in range(SENTENCES)]
    sentences = [f"{' '.join(text).capitalize()}." for text in texts]
    groups = [" ".join(sentences[n : n + 5]) for n in range(0, SENTENCES, 5)]
    (folder / "big.txt").write_text("\n\n".join(groups))
    with (folder / "qa.jsonl").open("w") as stream:
        for n in range(QUESTIONS):
            text = draw.choice(texts)
            known = {"answer": " ".join(text[-2:])} if n % 2 else {"evidence": " ".join(text[:6])}
            question = f"What of {' '.join(text[1:5])}?"
            stream.write(json.dumps({"question": question, **known}) + "\n")


def main() -> None:
    """Print the median of a few builds, in seconds of the clock and of the processor."""
    clock, processor = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        for _ in range(RUNS):
            start, used = time.perf_counter(), time.process_time()
            built = build([str(folder / "big.txt")], folder / "qa.jsonl", "big")
            built.save(folder / "big.jsonl")
            clock.append(time.perf_counter() - start)
            processor.append(time.process_time() - used)
    print(
        f"{len(built.material.claims)} claims, {len(built.linked)} questions: "
        f"{statistics.median(clock):.1f} s, {statistics.median(processor):.1f} s of processor"
    )


if __name__ == "__main__":
    main()
