"""Kills writers with SIGKILL: `python tests/harness/kills.py COUNT [SEED]`; says what was lost.

Each writer runs in a process of its own, alone or with four threads, and says what it has
acknowledged. It is killed at a random moment; then its file is opened: everything acknowledged is
there, nothing is torn, and no temporary file is left.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

LONGEST = 0.08  # seconds that a writer lives, after it has begun
Write = Callable[[int], None]  # makes change number n, and returns once that is acknowledged


def tree(path: Path) -> tuple[Write, Callable[[], Any]]:
    """A tree's journal: each change is a line."""
    from memenvs.policies.weighted_tree import WeightedTree

    opened: list[Any] = []
    guard = threading.Lock()

    def write(n: int) -> None:
        with guard:
            if not opened:
                opened.append(WeightedTree.open(path / "tree"))
                opened[0].begin_task("root")
        opened[0].record_action(f"change {n} {'word ' * 50}", "success")
        if n % 50 == 49:
            opened[0].save(path / "tree")

    def read() -> set[int]:
        again = WeightedTree.open(path / "tree")
        texts = [text.split() for text in again.nodes.texts[1:]]
        again.close()
        assert all(len(words) == 52 for words in texts)
        return {int(words[1]) for words in texts}

    return write, read


def whole(save: Callable[[Any, Path], None], load: Callable[[Path], Any]) -> Any:
    """A file that is written whole, with every change so far."""

    def writer(path: Path) -> tuple[Write, Callable[[], Any]]:
        done: set[int] = set()
        guard = threading.Lock()

        def write(n: int) -> None:
            with guard:
                done.add(n)
                save(done, path / "file")

        def read() -> set[int]:
            return set() if not (path / "file").exists() else set(load(path / "file"))

        return write, read

    return writer


def _save_memory(done: set[int], path: Path) -> None:
    from memenvs.policies import WriteMemory
    from memenvs.text.encoders import HashingEncoder

    memory = WriteMemory("fifo", max(done) + 1, claims=4, encoder=HashingEncoder(4))
    for n in sorted(done)[-8:]:
        memory.add(str(n))
    memory.save(path)


def _load_memory(path: Path) -> Iterator[int]:
    from memenvs.policies import WriteMemory

    found = [int(entry.text) for entry in WriteMemory.load(path).contents()]
    return iter(range(max(found) + 1) if found else ())


def _save_graph(done: set[int], path: Path) -> None:
    from memenvs.policies.bisimulation import TransitionMemory

    memory = TransitionMemory()
    for n in done:
        memory.begin(n, 0, frozenset(range(50)))
    memory.save(path)


def _load_graph(path: Path) -> Iterator[int]:
    from memenvs.policies.bisimulation import TransitionMemory

    return (page[0] for page in TransitionMemory.load(path).pages())


def _save_material(done: set[int], path: Path) -> None:
    from memenvs import Claim, Item, Material, Query, save_materials

    claims = tuple(Claim(id=str(n), text="words " * 50) for n in sorted(done))
    item = Item(id="i", supports=((claims[0].id,),), answers=("q",))
    save_materials([Material("m", claims, (item,), (Query(id="q"),))], path)


def _load_material(path: Path) -> Iterator[int]:
    from memenvs import load_material

    return map(int, load_material(path).claim_ids)


def registry(path: Path) -> tuple[Write, Callable[[], Any]]:
    """A user's registry, which several processes change."""
    from memenvs.envs import registry_file

    os.environ["MEMENVS_REGISTRY"] = str(path / "file")
    guard = threading.Lock()

    def write(n: int) -> None:
        with guard, registry_file._changed() as entries:
            entries[str(n)] = {"file": "/f", "digest": "0", "level": "1b", "settings": {}}

    def read() -> set[int]:
        os.environ["MEMENVS_REGISTRY"] = str(path / "file")
        return set(map(int, registry_file._read(path / "file")))

    return write, read


def cache(path: Path) -> tuple[Write, Callable[[], Any]]:
    """A cache of replies."""
    from memenvs.text.cache import Cache, content_key

    opened: list[Any] = []
    guard = threading.Lock()

    def write(n: int) -> None:
        with guard:
            if not opened:
                opened.append(Cache(path))
        opened[0].put({content_key(n): str(n).encode() * 100})

    def read() -> set[int]:
        again = Cache(path)
        found = again.get([content_key(n) for n in range(2000)])
        again.close()
        return {int(value.decode()[: len(value) // 100]) for value in found.values()}

    return write, read


def run_folder(path: Path) -> tuple[Write, Callable[[], Any]]:
    """A run's metrics and evaluation, in a folder that is owned."""
    from memenvs.storage.handles import owned_folder
    from memenvs.train.learn.folder import RunFolder, read_metrics

    owned: list[Any] = []
    rows: list[dict[str, int]] = []
    guard = threading.Lock()

    def write(n: int) -> None:
        with guard:
            if not owned:
                owned.append(owned_folder(path / "run"))
                owned[0].__enter__()
            rows.append({"n": n})
            folder = RunFolder(path / "run")
            folder.write_metrics(rows)
            folder.write_evaluation({"best_steps": n, "materials": 1, "precision": 0.5})

    def read() -> set[int]:
        if not (path / "run").exists():
            return set()
        with owned_folder(path / "run"):
            folder = RunFolder(path / "run")
            if folder.finished:
                assert folder.evaluation["materials"] == 1
            if not (path / "run" / "metrics.csv").exists():
                return set()
            return {int(row["n"]) for row in read_metrics(path / "run")}

    return write, read


WRITERS: dict[str, Any] = {
    "tree": tree,
    "memory": whole(_save_memory, _load_memory),
    "graph": whole(_save_graph, _load_graph),
    "material": whole(_save_material, _load_material),
    "registry": registry,
    "cache": cache,
    "run folder": run_folder,
}


def kill_all(count: int, seed: int) -> dict[str, Any]:
    """Kill writers of all kinds in turn, alone and with four threads; gives what went wrong."""
    rng = random.Random(seed)
    faults: list[str] = []
    kills: Counter[str] = Counter()
    acknowledged = 0
    top = Path(tempfile.mkdtemp(prefix="kills-"))
    for writer in WRITERS.values():  # what they import is imported before anything forks
        _killed(writer, top, 1, 1.0)
        writer(top)[1]()
        shutil.rmtree(top)
        top.mkdir()
    try:
        for number in range(count):
            name = list(WRITERS)[number % len(WRITERS)]
            threads = 1 if number // len(WRITERS) % 2 == 0 else 4
            kills[f"{name}, {threads} thread{'s'[: threads - 1]}"] += 1
            folder = top / str(number)
            folder.mkdir()
            told = _killed(WRITERS[name], folder, threads, rng.random() * LONGEST)
            acknowledged += len(told)
            try:
                found = WRITERS[name](folder)[1]()
                left = [p.name for p in folder.rglob(".memenvs-*")]
                if told - found:
                    faults.append(f"{number}: {name}, {threads}: lost {sorted(told - found)[:5]}")
                if left:
                    faults.append(f"{number}: {name}, {threads}: left {left}")
            except BaseException as error:
                faults.append(f"{number}: {name}, {threads}: {type(error).__name__}: {error}")
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(top)
    return {"kills": dict(kills), "acknowledged": acknowledged, "faults": faults}


def _killed(writer: Any, folder: Path, threads: int, after: float) -> set[int]:
    """Let a process write, and kill it; gives the changes that it acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _write_for_ever(writer(folder)[0], threads, writing)
    os.close(writing)
    select.select([reading], [], [], 20.0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    said = b""
    while part := os.read(reading, 2**16):
        said += part
    os.close(reading)
    return {int(line) for line in said.split(b"\n")[:-1]}


def _write_for_ever(write: Write, threads: int, out: int) -> None:
    def work(first: int) -> None:
        try:
            for n in range(first, 2000, threads):
                write(n)
                os.write(out, b"%d\n" % n)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)

    write_first = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for thread in write_first:
        thread.start()
    for thread in write_first:
        thread.join()
    time.sleep(60)
    os._exit(0)


if __name__ == "__main__":
    os.environ.setdefault("MEMENVS_STATE", tempfile.mkdtemp(prefix="memenvs-state-"))
    count, seed = map(int, [*sys.argv[1:], "0"][:2])
    found = kill_all(count, seed)
    print(json.dumps(found, indent=1))
    sys.exit(bool(found["faults"]))
