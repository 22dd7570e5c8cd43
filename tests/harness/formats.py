"""One file of each format of ours: how it is made, and read into something that can be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memenvs.envs import registry_file
from memenvs.materials.odyssey import odyssey
from memenvs.policies import WriteMemory
from memenvs.policies.bisimulation import TransitionMemory
from memenvs.policies.learned.models import find_models
from memenvs.policies.learned.plain import plain_network
from memenvs.policies.learned.saved import read_card
from memenvs.policies.weighted_tree import WeightedTree
from memenvs.policies.weighted_tree.nodes import COLUMNS
from memenvs.text.cache import Cache, content_key
from memenvs.text.encoder_files import encoder_of, save_encoder
from memenvs.text.encoders import HashingEncoder
from memenvs.text.tfidf import TfidfEncoder
from memenvs.train.learn.checkpoints import load_checkpoint
from memenvs.train.learn.folder import RunFolder

KEYS = [content_key(n) for n in range(40)]


@dataclass(frozen=True)
class Format:
    """``make`` writes a file at a path; ``read`` gives what it says, or raises ``ValueError``."""

    name: str
    file: str  # what it is called
    make: Callable[[Path], None]
    read: Callable[[Path], Any]
    # Whether what was read is the original's; the shorter one counts that a kill could leave.
    same: Callable[[Any, Any], bool] = lambda found, wanted: bool(found == wanted)


def _memory(policy: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        memory = WriteMemory(policy, 3, claims=8, encoder=HashingEncoder(8), cues=["weight"])
        for n in range(20):
            memory.add(f"line {n}", f"s{n % 3}", float(n), 0.5, cues={"weight": n / 7})
            memory.settled(f"line {n - 1}", n % 2 == 0)
        memory.save(path)

    return make


def _read_memory(path: Path) -> Any:
    memory = WriteMemory.load(path)
    arrays = {**memory._live.as_arrays(), **memory.observation()}
    shown = {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}
    names = json.dumps(memory._live.stream.reader.as_names())
    memory.add("more")  # it is usable
    return shown, memory.contents()[:2], names


def _play(tree: WeightedTree) -> None:
    tree.begin_task("root", page=1)
    for n in range(6):
        tree.record_action(f"action {n}", "success" if n % 2 else "failure", source="s")
        tree.context(f"action {n}", 40, step_id=n)
    child = tree.begin_task("part")
    tree.record_action("inner", "success", slot="x", value="1", official=True)
    tree.complete(child, result="done")
    tree.complete()
    tree.promote()


def _journal(path: Path) -> None:
    tree = WeightedTree.open(path)
    _play(tree)
    tree.close()


def _state(path: Path) -> None:
    tree = WeightedTree()
    _play(tree)
    tree.save(path)


def _read_tree(path: Path) -> Any:
    tree = WeightedTree.open(path)
    try:
        columns = {name: getattr(tree.nodes, name).tolist() for name in COLUMNS}
        told = columns, list(tree.nodes.texts), list(tree.nodes.metadata), tree.active
        begun = tree.begin_task("more")  # it is usable
        tree.record_action("x", "success")
        tree.context("x")
        tree.complete(begun)
        return json.loads(json.dumps(told)), told[1]
    finally:
        tree.close()


def _prefix(found: Any, wanted: Any) -> bool:
    texts, all_ = found[1], wanted[1]
    return bool(found == wanted or texts == all_[: len(texts)])


def _graph(path: Path) -> None:
    memory = TransitionMemory()
    memory.begin(1, 2, frozenset({3}))
    for n in range(1, 20):
        memory.record(n, n % 3, n + 1, n % 2, 0.0, n % 7 == 6, next_elements=frozenset({n}))
        memory.begin(n + 1, n % 2, frozenset({n}))
    memory.save(path)


def _read_graph(path: Path) -> Any:
    memory = TransitionMemory.load(path)
    memory.rerank(1, [0, 1, 2])
    return memory.rule, memory.pages(), memory.templates(), memory.graph.edges.tolist()


def _model(path: Path) -> None:
    from memenvs.policies.learned.plain import plain_entries
    from memenvs.policies.learned.saved import save_entries
    from memenvs.storage.archives import read_archive
    from saved_models import train

    model = train(path, "odyssey-noisy", network="pointer", trained_on=(), capacity=3, steps=32)
    archive = read_archive(path, 2**30, "model")
    entries = {n: archive.read(n) for n in archive.names}
    save_entries(path, entries | plain_entries(model), read_card(path))


def _read_model(path: Path) -> Any:
    (model,) = find_models(path)
    network = plain_network(path)
    state = {} if network is None else network.state_dict()
    digest = hashlib.sha256(b"".join(t.numpy().tobytes() for t in state.values())).hexdigest()
    return model.card, digest, sorted(state)


def _tfidf(path: Path) -> None:
    TfidfEncoder.fit([odyssey()], 4).save(path)


def _tfidf_beside(path: Path) -> None:
    save_encoder(TfidfEncoder.fit([odyssey()], 4), str(path).removesuffix(".encoder.json"))


def _hashing_beside(path: Path) -> None:
    save_encoder(HashingEncoder(8), str(path).removesuffix(".encoder.json"))


def _read_beside(path: Path) -> Any:
    encoder = encoder_of(str(path).removesuffix(".encoder.json"))
    assert encoder is not None
    return encoder.encode(["Odysseus sails home", "x"]).tolist()


def _registry(path: Path) -> None:
    document = {
        f"notes-{n}": {"file": f"/n/{n}", "digest": "0" * 64, "level": "1b", "settings": {"k": n}}
        for n in range(5)
    }
    sealed = registry_file.sealed({"format": registry_file.FORMAT, "materials": document})
    path.write_text(json.dumps(sealed))


def _evaluation(path: Path) -> None:
    found = {"best_steps": 3, "materials": 2, "precision": 0.5, "split": "test", "left_out": None}
    RunFolder(path.parent).write_evaluation(found)


def _checkpoint(path: Path) -> None:
    import zipfile

    from memenvs.storage.reading import digest_of
    from memenvs.storage.trusted import remember

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("progress.json", json.dumps({"rows": [1]}))
        archive.writestr("model.zip", b"model")
    remember(digest_of(path))


def _cache(path: Path) -> None:
    cache = Cache(path.parent)
    cache.put({key: bytes([n]) * 200 for n, key in enumerate(KEYS)})
    cache.close()


def _read_cache(path: Path) -> Any:
    cache = Cache(path.parent)
    try:
        return cache.get(KEYS)
    finally:
        cache.close()


def _part(found: Any, wanted: Any) -> bool:
    return all(wanted[key] == value for key, value in found.items())


FORMATS = (
    Format("memory of a rule", "memory", _memory("fifo"), _read_memory),
    Format("memory with a state", "memory", _memory("trust"), _read_memory),
    Format("tree journal", "tree", _journal, _read_tree, _prefix),
    Format("saved tree", "tree", _state, _read_tree, _prefix),
    Format("bisimulation graph", "graph", _graph, _read_graph),
    Format("model", "best_model.zip", _model, _read_model),
    Format("fitted encoder", "m.encoder.npz", _tfidf, lambda p: TfidfEncoder.load(p).describe()),
    Format("encoder description", "m.encoder.json", _tfidf_beside, _read_beside),
    Format("small description", "m.encoder.json", _hashing_beside, _read_beside),
    Format("registry", "materials.json", _registry, registry_file._read),
    Format("evaluation", "evaluation.json", _evaluation, lambda p: RunFolder(p.parent).evaluation),
    Format("checkpoint", "1.zip", _checkpoint, lambda p: load_checkpoint(p, lambda s: s.read())),
    Format("cache", "cache.sqlite", _cache, _read_cache, _part),
)
