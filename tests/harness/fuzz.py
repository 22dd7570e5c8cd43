"""Reads mutated files: `python tests/harness/fuzz.py COUNT [SEED]`; says what was not refused.

Each file is refused by a `ValueError` of one line below 300 characters, within 2 seconds of the
processor and 500 MB, or is read into what its original says.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

LONGEST, SECONDS, MEGABYTES = 300, 2.0, 500


class TooSlow(BaseException):
    """The time is over."""


def fuzz(count: int, seed: int) -> dict[str, Any]:
    """Read ``count`` mutated files of all formats in turn; gives how many, how slow, how large."""
    import numpy as np
    from formats import FORMATS
    from mutators import MUTATORS

    def stop(number: int, frame: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, stop)
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    slowest = largest = longest = 0.0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        originals = []
        for number, each in enumerate(FORMATS):
            place = folder / str(number)
            place.mkdir()
            each.make(place / each.file)
            content = (place / each.file).read_bytes()
            originals.append((each, place, content, each.read(place / each.file)))
        for number in range(count):
            each, place, content, wanted = originals[number % len(originals)]
            rng = np.random.default_rng([seed, number])
            mutate = MUTATORS[rng.integers(len(MUTATORS))]
            what = f"{each.name}, {mutate.__name__}, number {number}"
            for old in place.iterdir():
                old.unlink()
            (place / each.file).write_bytes(mutate(content, rng))
            before = _reset_peak()
            begun = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                found = each.read(place / each.file)
                signal.setitimer(signal.ITIMER_PROF, 0)
                outcomes["equal"] += 1
                if not each.same(found, wanted):
                    faults.append(f"{what}: read as something else")
            except ValueError as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                outcomes["refused"] += 1
                said = str(error)
                longest = max(longest, len(said))
                if len(said) >= LONGEST or not said.isprintable():
                    faults.append(f"{what}: {len(said)} characters: {said[:400]!a}")
            except TooSlow:
                faults.append(f"{what}: more than {SECONDS} s")
            except BaseException as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                faults.append(f"{what}: {type(error).__name__}: {str(error)[:200]!a}")
            slowest = max(slowest, time.process_time() - begun)
            used = _peak() - before
            largest = max(largest, used)
            if used > MEGABYTES:
                faults.append(f"{what}: {used:.0f} MB")
    return {
        "files": count,
        **outcomes,
        "slowest": round(slowest, 3),
        "megabytes": round(largest),
        "longest": int(longest),
        "faults": faults,
    }


def _reset_peak() -> float:
    """Let the peak of resident memory count anew; gives what is resident, in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> float:
    return _status("VmHWM")


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise AssertionError(name)


if __name__ == "__main__":
    os.environ.setdefault("MEMENVS_STATE", tempfile.mkdtemp(prefix="memenvs-state-"))
    print(
        json.dumps(fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0), indent=1)
    )
