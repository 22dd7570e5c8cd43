"""Configurations as YAML files: where they lie, how they are read, and what is wrong with them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from memenvs.policies.user_code import refuse_code
from memenvs.storage.reading import read_bounded
from memenvs.storage.trusted import remembered

LONGEST = 2**18  # bytes of a configuration
TRAINING = "algorithm"  # the key that a training has and a comparison has not


def shipped(*, training: bool) -> list[str]:
    """Names of the configurations that come with the package: of trainings, or of comparisons."""
    folder = resources.files("memenvs.configs")
    names = sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name[-5:] == ".yaml")
    return [name for name in names if _is_training(name) == training]


def read_config(config: str, *, training: bool) -> tuple[str, dict[str, Any]]:
    """Read a path or a shipped configuration; gives what to call it, and its settings.

    Raises ``ValueError`` that names the file; a file names no code that is to be run.
    """
    names = shipped(training=training)
    if config in names:  # whatever else is called so: an output folder, say
        return f"{config}.yaml", parse_config(f"{config}.yaml", _shipped_text(config))
    path = Path(config)
    if not path.exists():
        raise ValueError(
            f"'{config}' is neither a file nor one of the configurations that come with the "
            f"package ({', '.join(names)})"
        )
    content = read_bounded(path, LONGEST)
    try:
        document = parse_config(config, content.decode())
    except UnicodeDecodeError:
        raise ValueError(f"{config}: is no text in UTF-8") from None
    if remembered(sha256(content).hexdigest()) is None:
        refuse_code(config, document)
    return config, document


def parse_config(label: str, text: str) -> dict[str, Any]:
    """Parse settings; raises ``ValueError`` that begins with ``label``."""
    document = parse_yaml(label, text)
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise ValueError(f"{label}: holds no settings; write 'key: value' lines")
    return document


def parse_yaml(label: str, text: str) -> Any:
    """Parse YAML; raises ``ValueError`` that begins with ``label``."""
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ValueError(f"{label}: is no YAML: {error}") from None
    except (RecursionError, ValueError):  # nested too deeply, or a date that does not exist
        raise ValueError(f"{label}: is no YAML that can be read") from None


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads what a file says, and no references: a few of them, nested, unfold without end."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it holds a reference (*name); write out what it stands for")
        return super().compose_node(parent, index)


def unknown(given: str, known: Iterable[str]) -> str:
    """Say that a key is unknown, and which known one is nearest."""
    names = list(known)
    near = difflib.get_close_matches(given.replace("_", "-"), names, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"choose from {', '.join(names)}"
    return f"is unknown; {hint}"


@cache
def _shipped_text(name: str) -> str:
    return (resources.files("memenvs.configs") / f"{name}.yaml").read_text("utf-8")


@cache
def _is_training(name: str) -> bool:
    return TRAINING in parse_config(f"{name}.yaml", _shipped_text(name))
