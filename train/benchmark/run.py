"""Plays a protocol: every part that the data is there for, and what was left out and why."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memenvs.material.files import as_document, save_materials
from memenvs.material.material import Material
from memenvs.materials.datasets.conversion import convert
from memenvs.policies.resolve import given_names
from memenvs.train.benchmark.curves import curve_records, curve_refusals, training_records
from memenvs.train.benchmark.protocol import Part, Protocol
from memenvs.train.compare import Comparison, compare
from memenvs.train.experiment import Experiment, load_experiment
from memenvs.train.named_policy import facts, refusals
from memenvs.train.provenance import versions
from memenvs.train.setting import make_setting

FORMAT = "memenvs.benchmark/1"
CURVES = "curves"  # the part that every protocol has

Report = Callable[[str, Comparison], None]  # a part's name, and what was found
Save = Callable[[dict[str, Any]], None]  # is given the document so far


def silent(part: str, found: Comparison) -> None:
    """Show nothing of a part that is done."""


def lost(document: dict[str, Any]) -> None:
    """Keep nothing of a benchmark that is not done."""


def run_benchmark(
    protocol: Protocol,
    policies: Sequence[str] | Mapping[str, Any],
    *,
    files: Mapping[str, str] | None = None,
    parts: Sequence[str] = (),
    report: Report = silent,
    save: Save = lost,
) -> dict[str, Any]:
    """Play a protocol; gives the document of the results, as JSON has it.

    ``policies`` are names, or by names of your own whatever ``memenvs.policies.make`` takes.
    ``files`` holds data sets as published, by kind; ``parts`` narrows to some of the protocol's.
    The document says what was left out, which policies do not fit a part, and in which episodes one
    failed. ``save`` is called after each part. Raises ``ValueError`` for an unknown part or policy.
    """
    with given_names(policies if isinstance(policies, Mapping) else {}):
        return _run(protocol, list(policies), files or {}, parts, report, save)


def _run(
    protocol: Protocol,
    policies: Sequence[str],
    files: Mapping[str, str],
    parts: Sequence[str],
    report: Report,
    save: Save,
) -> dict[str, Any]:
    known = [part.name for part in protocol.parts] + [CURVES]
    for name in parts:
        if name not in known:
            raise ValueError(
                f"protocol '{protocol.name}' has no part '{name}'; choose from {', '.join(known)}"
            )
    for name in policies:
        facts(name)
    left_out = {name: "not asked for" for name in known if parts and name not in parts}
    left_out |= {name: "not played yet" for name in known if name not in left_out}
    document: dict[str, Any] = {
        "format": FORMAT,
        "protocol": protocol.name,
        "protocol_digest": protocol.digest,
        "versions": versions(),
        "policies": list(policies),
        "parts": [],
        "left_out": left_out,
        "refused": [],
        "failed": [],
        "curves": [],
        "trainings": training_records(policies),
    }
    asked = [name for name in known if not parts or name in parts]

    def fitting(part: str, found: dict[str, str]) -> list[str]:
        """Note why policies cannot play a part; gives those that can."""
        document["refused"] += [
            {"part": part, "policy": name, "reason": reason} for name, reason in found.items()
        ]
        return [name for name in policies if name not in found]

    with tempfile.TemporaryDirectory() as folder:
        data = dict(_converted(files, Path(folder)))
        for part in protocol.parts:
            if part.name not in asked:
                continue
            if part.data and part.data not in data:
                left_out[part.name] = f"no data: give --{part.data} FILE"
                continue
            setting = make_setting(_experiment(protocol, part, policies, data))
            names = [material.name for material in setting.materials]
            able = fitting(
                part.name, refusals(policies, setting.envs.values(), names, protocol.seed)
            )
            if not able:
                left_out[part.name] = "no policy fits it"
                continue
            found = compare(_experiment(protocol, part, able, data))
            report(part.name, found)
            document["failed"] += _failures(part, found)
            document["parts"].append(_record(protocol, part, found, setting.materials))
            del left_out[part.name]
            save(document)
    if CURVES in asked:
        for curve in protocol.curves:
            able = fitting(f"{CURVES} {curve.tier}", curve_refusals(protocol, curve, policies))
            document["curves"] += curve_records(protocol, curve, able)
            save(document)
        del left_out[CURVES]
    save(document)
    return document


def digest(materials: Iterable[Material]) -> str:
    """SHA-256 of materials' content in order: a line of JSON each, keys sorted, ASCII."""
    content = hashlib.sha256()
    for material in materials:
        line = json.dumps(as_document(material), sort_keys=True, separators=(",", ":"))
        content.update(line.encode() + b"\n")
    return content.hexdigest()


def _converted(files: Mapping[str, str], folder: Path) -> Iterable[tuple[str, str]]:
    for kind, file in files.items():
        path = str(folder / f"{kind}.jsonl")
        save_materials(convert(kind, file).materials, path)
        yield kind, path


def _experiment(
    protocol: Protocol, part: Part, policies: Sequence[str], data: Mapping[str, str]
) -> Experiment:
    settings = dict(part.settings) | ({"material": [data[part.data]]} if part.data else {})
    return load_experiment(
        None,
        {
            **settings,
            "policy": list(policies),
            "baseline": protocol.baseline,
            "seed": protocol.seed,
            "time-limit": protocol.time_limit,
        },
    )


def _failures(part: Part, found: Comparison) -> list[dict[str, Any]]:
    """Say of each episode in which a policy failed which it was and why."""
    columns = ("policy", "capacity", "instance", "episode", "reason")
    return [{"part": part.name} | {name: row[name] for name in columns} for row in found.failed]


def _record(
    protocol: Protocol, part: Part, found: Comparison, materials: Sequence[Material]
) -> dict[str, Any]:
    """Give a part's summary, and the precision on every material for paired differences."""
    reached: dict[tuple[str, int], list[float]] = {}
    for row in found.rows:
        reached.setdefault((row["policy"], row["capacity"]), []).append(row["precision"])
    return {
        "part": part.name,
        "settings": dict(part.settings),
        "materials": {
            "names": [material.name for material in materials],
            "sha256": digest(materials),
        },
        "summary": [
            {name: record[name] for name in ("policy", "capacity", "interval_over", "baseline")}
            | {name: record[name] for name in protocol.metrics}
            for record in found.summary
        ],
        "precision": [
            {"policy": policy, "capacity": capacity, "values": values}
            for (policy, capacity), values in reached.items()
        ],
    }
