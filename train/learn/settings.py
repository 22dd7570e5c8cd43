"""Settings of a training, from YAML and the command line; a bad key names itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memenvs.policies.learned.models import WRITER
from memenvs.train.config_files import parse_yaml, read_config, unknown


def _listed(value: Any) -> Any:
    """Let a single value stand for a list of one."""
    return [value] if isinstance(value, str | int) else value


def _number(value: Any) -> Any:
    """Read '1e-3' as the number it is: YAML takes it for a text, as it lacks a dot."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _distinct(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise ValueError("has a value twice")
    return values


def dashed(key: str) -> str:
    """Spell a field as it stands in a file."""
    return key.replace("_", "-")


Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Real = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Rate = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, BeforeValidator(_number), Field(ge=0, lt=1)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Names = Annotated[list[str], BeforeValidator(_listed), AfterValidator(_distinct)]


class _Settings(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, alias_generator=dashed, populate_by_name=True
    )


class Evaluation(_Settings):
    """On fixed materials, scenarios or pages: while it trains, and at its end."""

    every: Positive | None = None  # steps; a checkpoint is written as often (a tenth of all)
    materials: Positive = 64  # while it trains; other families count scenarios, pages, episodes
    final: Positive = 200  # at its end
    split: str = "validation"  # of a tier, or of the poisoning scenarios


class Schedule(_Settings):
    """How the learning rate falls, in a line from ``hyperparameters.learning-rate``."""

    end: Rate


class Imitation(_Settings):
    """Warm start by imitating a teacher (DAgger), before any reward is seen."""

    teacher: str
    steps: Positive = 50_000  # labelled decisions
    rounds: Positive = 5  # the teacher plays the first, the learner the others
    epochs: Positive = 4  # over all labels so far, in each round
    batch_size: Positive = 1024
    learning_rate: Rate = 1e-3
    critic_epochs: Count = 10  # over the last round's returns, the rest frozen


class Shaping(_Settings):
    """A reward beside the settled one, in training alone."""

    wrapper: str
    weight: Real = 1.0


class Wrapper(_Settings):
    """A memory around the environments, in training and in validation."""

    name: str  # weighted-tree or bisimulation
    mode: Literal["act", "advise"] = "advise"
    rule: str | None = None  # of the bisimulation memory
    policy: str | None = None  # whose shortlists the bisimulation memory reads


class Windows(_Settings):
    """Train on consecutive claims of long materials, with slots in proportion."""

    claims: Annotated[list[Positive], Field(min_length=2, max_length=2)]
    stride: Positive = 10  # claims from the beginning of one window to the next


class Stage(_Settings):
    """A stage before the training's own: another environment with the same columns."""

    env: str | None = None
    material: Names = []
    settings: dict[str, Any] = {}
    steps: Positive


class SelfPlay(_Settings):
    """The writer and opponents in turn, each against all of the others so far.

    What is said here is of each opponent; the writer has what the training says, in each round.
    """

    rounds: Positive = 3
    steps: Positive = 40_000
    settings: dict[str, Any] = {}  # of the environment, beside those of the training
    network: str = "opponent"
    hyperparameters: dict[str, Any] = {}
    imitation: Imitation | None = None


class Game(_Settings):
    """A game of several agents, in which one model takes the seats of one kind."""

    name: str
    options: dict[str, Any] = {}  # of the game
    seat: str = WRITER
    opponents: Names = []  # who plays the others: all scripted ones, or `trust` for the writer
    self_play: SelfPlay | None = None


class Training(_Settings):
    """What is trained, in what, and how."""

    env: str | None = None
    material: Names = []
    settings: dict[str, Any] = {}  # of the environment, instead of its own
    game: Game | None = None
    algorithm: str = "maskable-ppo"
    network: str = "mlp"
    network_options: dict[str, Any] = {}
    start: str | None = None  # path of a model whose parameters it begins with
    steps: Positive
    envs: Positive = 64
    seed: Annotated[list[Seed], BeforeValidator(_listed), AfterValidator(_distinct)] = [0]
    device: str = "auto"
    hyperparameters: dict[str, Any] = {}
    schedule: Schedule | None = None
    evaluation: Evaluation = Evaluation()
    imitation: Imitation | None = None
    shaping: Shaping | None = None
    wrapper: Wrapper | None = None
    windows: Windows | None = None
    feature_dropout: Share = 0.0
    curriculum: list[Stage] = []
    leave_one_out: bool = False

    @property
    def seat(self) -> str:
        """Whom it plays: the writer, or the writer's opponent in a game."""
        return WRITER if self.game is None else self.game.seat

    def as_document(self) -> dict[str, Any]:
        """Give the form that a file has, every key written out."""
        return self.model_dump(by_alias=True)


def load_training(
    config: str, assignments: Sequence[str] = (), options: Mapping[str, Any] | None = None
) -> Training:
    """Read a configuration; ``KEY=VALUE`` assignments and then options override its keys.

    ``config`` is a path, or the name of a configuration that comes with the package. A key inside
    another is written ``evaluation.every``. Raises ``ValueError`` that names the file and the key.
    """
    label, stored = read_config(config, training=True)
    validate_training(stored, f"{label}: key ")
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key:
            raise ValueError(f"--set {assignment}: write KEY=VALUE, as in --set steps=1000")
        stored = _assigned(stored, key, parse_yaml(f"--set {key}", text))
    return validate_training({**stored, **(options or {})}, "--set ")


def validate_training(settings: Mapping[str, Any], label: str) -> Training:
    """Check settings; raises ``ValueError`` whose sentence begins with ``label`` and the key."""
    try:
        return Training.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{label}'{field}': {_problem(first)}") from None


def _assigned(settings: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    outer, dot, inner = key.partition(".")
    if outer in ("env", "material"):  # what to play is replaced, not added to
        settings = {k: v for k, v in settings.items() if k not in ("env", "material")}
    if not dot:
        return {**settings, outer: value}
    nested = settings.get(outer) or {}
    if not isinstance(nested, Mapping):
        raise ValueError(f"--set '{key}': '{outer}' has no keys of its own")
    return {**settings, outer: _assigned(nested, inner, value)}


def _problem(error: Any) -> str:
    if error["type"] == "missing":
        return "is missing; add it"
    if error["type"] == "extra_forbidden":
        *outer, last = error["loc"]
        return unknown(str(last), [dashed(name) for name in _model(outer).model_fields])
    wanted = error["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{wanted}, not {error['input']!r:.40}"


def _model(path: Sequence[str | int]) -> type[BaseModel]:
    """Find the model in which a key was looked for."""
    inner: dict[str, type[BaseModel]] = {
        "game": Game,
        "self-play": SelfPlay,
        "evaluation": Evaluation,
        "schedule": Schedule,
        "imitation": Imitation,
        "shaping": Shaping,
        "wrapper": Wrapper,
        "windows": Windows,
        "curriculum": Stage,
    }
    keys = [part for part in path if isinstance(part, str)]
    return inner[keys[-1]] if keys else Training
