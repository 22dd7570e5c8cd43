"""Finds what MODULE:NAME or FILE.py:NAME stands for: a class, an object or a function of a user.

Such a name is run as code. So it has to come from the user, on the command line or in Python; what
is read from a file may not hold one (``refuse_code``).
"""

from __future__ import annotations

import importlib
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from memenvs.policies.names import NAMES
from memenvs.storage.messages import clipped

CODE = re.compile(
    r"(?P<place>.*\.py|[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*(\.[^\W\d]\w*)*)"
)
RUN = ("system", "process")  # names of policies that run what follows the colon
RUNS = tuple(f"{name}:" for name in RUN)
IMPORTS = ("material", "env")  # keys under which "module:name" is imported
KEYS = ("policy", "baseline", "teacher")  # of settings that name policies


def is_code(name: str) -> bool:
    """Tell MODULE:NAME and FILE.py:NAME from other names; a policy of ours may have a variant."""
    found = CODE.fullmatch(name)
    return found is not None and found["place"] not in NAMES and found["name"] != "ensemble"


def runs_code(name: str) -> bool:
    """Whether a policy of that name would run what its name says."""
    return is_code(name) or name.partition(":")[0] in RUN


def find_code(name: str) -> Any:
    """Import what MODULE:NAME or FILE.py:NAME stands for.

    Modules are found from the working directory, too. Raises ``ValueError`` that says what is not
    there, and ``ModuleNotFoundError`` where there is no such module.
    """
    found = CODE.fullmatch(name)
    assert found is not None
    place = found["place"]
    try:
        module: Any = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{place}.".startswith(f"{error.name}."):
            raise  # there is no such module
        raise ValueError(f"{place}: cannot be imported: {error}") from error
    except Exception as error:  # whatever the module does when it is imported
        raise ValueError(f"{place}: cannot be imported: {type(error).__name__}: {error}") from error
    for part in found["name"].split("."):
        if not hasattr(module, part):
            raise ValueError(f"{place}: has no '{found['name']}', which '{name}' names")
        module = getattr(module, part)
    return module


def import_from_here() -> None:
    """Let modules be imported from the working directory, after everything else."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)


def refuse_code(label: str, settings: Any, key: str = "") -> None:
    """Refuse settings read from a file that name code to run; raises ``ValueError``."""
    if isinstance(settings, dict):
        for name, value in settings.items():
            refuse_code(label, value, str(name))
    elif isinstance(settings, list):
        for value in settings:
            refuse_code(label, value, key)
    elif isinstance(settings, str) and (
        (key in KEYS and runs_code(settings))
        or settings.startswith(RUNS)
        or (key in IMPORTS and ":" in settings)
    ):
        raise ValueError(
            f"{label}: key '{clipped(key)}': '{clipped(settings)}' names code to run, which a file "
            f"may not; give it on the command line, or trust the file: memenvs trust {label}"
        )


def _from_name(name: str) -> ModuleType:
    import_from_here()
    return importlib.import_module(name)


def _from_file(path: Path) -> ModuleType:
    """Import a file once, under a name of its own; its neighbours can be imported by it."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file '{path}'")
    path = path.resolve()
    name = f"{path.stem}@{path.parent}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
