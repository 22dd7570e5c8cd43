"""What is to be compared: the settings of one experiment, from YAML and from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from memenvs.reading.answers import ALL
from memenvs.reading.readers import limits
from memenvs.train.config_files import read_config, shipped, unknown


def _listed(value: Any) -> Any:
    """Let a single value stand for a list of one."""
    return [value] if isinstance(value, str | int | float) else value


def _assigned(value: Any) -> Any:
    """Let a list of KEY=VALUE stand for a mapping."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return value
    pairs = [each.partition("=") for each in value]
    for key, equals, _ in pairs:
        if not equals or not key:
            raise PydanticCustomError("assignment", "write KEY=VALUE, as in poison=6")
    return {key: each for key, _, each in pairs}


Positive = Annotated[int, Field(ge=1)]
Names = Annotated[list[str], BeforeValidator(_listed)]


class Experiment(BaseModel):
    """Settings of a comparison; the keys of a configuration are the command line's options."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    env: str | None = None
    material: Names = []
    game: str | None = None
    game_option: Annotated[
        dict[str, Any], BeforeValidator(_assigned), Field(alias="game-option")
    ] = {}
    opponent: Names = []
    capacity: Annotated[list[Positive], BeforeValidator(_listed)] = []
    policy: Names = []
    baseline: str = "random"
    utility: Literal["coverage", "precision", "end-to-end"] | None = None
    reader: str | None = None
    reasoner: str | None = None
    correct: str | None = None
    action: Literal["slots", "priority"] | None = None
    budget: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    episodes: Positive | None = None
    materials: Positive = 20
    split: str | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    time_limit: Annotated[float, Field(ge=0, allow_inf_nan=False, alias="time-limit")] = 60.0
    out: str | None = None

    @property
    def overrides(self) -> dict[str, Any]:
        """Arguments of the environment that were given."""
        given = {
            "utility": self.utility,
            "reader": self.reader if limits(self.reader or ALL) else None,
            "action": self.action,
            "budget": self.budget,
        }
        return {name: value for name, value in given.items() if value is not None}


def load_experiment(config: str | None, options: Mapping[str, Any]) -> Experiment:
    """Read a configuration and let the given options override its keys.

    ``config`` is a path, or the name of a configuration that comes with the package; paths in it
    are relative to the working directory. Raises ``ValueError`` that names the file and the key.
    """
    stored: dict[str, Any] = {}
    if config is not None:
        label, stored = read_config(config, training=False)
        _validate(stored, label)
        if {"env", "material"} & set(options):  # what to play is replaced, not added to
            stored = {k: value for k, value in stored.items() if k not in ("env", "material")}
    return _validate({**stored, **options}, "")


def shipped_configs() -> list[str]:
    """Names of the comparisons that come with the package."""
    return shipped(training=False)


def _validate(settings: dict[str, Any], label: str) -> Experiment:
    try:
        return Experiment.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        where = f"{label}: key '{field}'" if label else f"--{first['loc'][0]}"
        raise ValueError(f"{where}: {_problem(first, field)}") from None


def _problem(error: Any, field: str) -> str:
    if error["type"] == "extra_forbidden":
        keys = [info.alias or name for name, info in Experiment.model_fields.items()]
        return unknown(field, keys)
    wanted = error["msg"].removeprefix("Input ")
    return f"{wanted}, not {error['input']!r:.40}"
