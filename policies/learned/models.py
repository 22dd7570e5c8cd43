"""Finds saved models: a file, the folder of a run, or a folder of several seeds and materials."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.envs.memorization.rules import HISTORY, Actions, Rules
from memenvs.objective import Objective
from memenvs.policies.learned.saved import ENTRY, ModelCard, column_names, read_card
from memenvs.policies.user_code import is_code

BEST = "best_model.zip"
PLACES = (BEST, f"seed-*/{BEST}", f"without-*/{BEST}", f"without-*/seed-*/{BEST}")
ENSEMBLE = ":ensemble"
WRITER = "writer"  # the seat of a model that says of no other
CLAIMS = 1024  # that a stream is expected to have, unless it is said


@dataclass(frozen=True)
class Interface:
    """What a policy is built for: the part of an environment that it looks at."""

    layout: Layout
    rules: Rules
    actions: Actions


@dataclass(frozen=True, eq=False)
class Model:
    """A saved model."""

    path: Path
    card: ModelCard
    trust: bool = False  # whether the user said that pickles in it may be loaded

    def has_seen(self, material: str) -> bool:
        """Whether it was trained on the material of that name, or on the split it belongs to."""
        names = self.card.trained_on
        return material in names or material.rpartition("-")[0] in names

    @property
    def seat(self) -> str:
        """Whom it plays: the writer, or the kind of opponent that it is."""
        game = self.card.settings.get("game") or {}
        return str(game.get("seat", WRITER))

    @property
    def rules(self) -> Rules:
        """The rules of the environment it was trained in."""
        try:
            return Rules(**self.card.rules)
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.path}: was saved by a version of memenvs with other rules; train it again"
            ) from None

    def interface(self, capacity: int | None = None, claims: int = CLAIMS) -> Interface:
        """What it was trained for, with another capacity, and streams of so many claims.

        Raises ``ValueError`` for pools and for queries that are known beforehand: how many there
        are is the environment's to say.
        """
        check_writes(self)
        rules = self.rules
        if rules.access == "pool" or rules.disclosure != "settled":
            raise ValueError(
                f"{self.path}: was trained with access='{rules.access}' and "
                f"disclosure='{rules.disclosure}'; name the environment that it is to play"
            )
        names = self.card.columns.get("claim", [])
        cues = tuple(name.partition(".")[2] for name in names if name.startswith("cues."))
        wide = "".join(names[:1]).partition("*")[2]  # of the embedding, which comes first
        width = int(wide) if wide.isdecimal() else 1
        limits = Limits(claims, claims, width, cues, "length" in names)
        priority = rules.action == "priority"
        layout = Layout(
            limits,
            pool=False,
            priority=priority,
            query_rows=HISTORY,
            reads=Objective.of(rules).limited,
        )
        if column_names(layout) != self.card.columns:
            raise ValueError(
                f"{self.path}: was saved by a version of memenvs whose observations have other "
                "columns; train it again"
            )
        rules = replace(rules, capacity=rules.capacity if capacity is None else capacity)
        return Interface(layout, rules, Actions(rules.capacity, rules.clears, 0))


def is_model(name: str) -> bool:
    """Tell the path of a model from the name of a policy."""
    if is_code(name):
        return False
    path = Path(name.removesuffix(ENSEMBLE))
    return path.suffix == ".zip" or os.sep in name or (path.is_dir() and bool(_files(path)))


def lacks_card(name: str) -> bool:
    """Tell a model that SB3 saved, and nothing more, from one that brought a card."""
    try:
        with zipfile.ZipFile(name) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False  # whoever opens it says what is wrong
    return ENTRY not in names and "data" in names


def find_models(path: str | os.PathLike[str], *, trust: bool = False) -> list[Model]:
    """List the models at a path, by seed; raises ``ValueError`` where there is none."""
    place = Path(os.fspath(path).removesuffix(ENSEMBLE))
    files = _files(place) if place.is_dir() else [place]
    if not place.exists():
        raise ValueError(f"{place}: there is no such model; name a run's folder or its {BEST}")
    if not files:
        raise ValueError(f"{place}: holds no {BEST}; has its training saved one yet?")
    models = [Model(file, read_card(file), trust) for file in files]
    return sorted(models, key=lambda model: (model.card.seed, str(model.path)))


def unseen(models: Sequence[Model], material: str) -> list[Model]:
    """Keep the models that were not trained on a material; all of them, where each one was."""
    return [model for model in models if not model.has_seen(material)] or list(models)


def check_fit(models: Iterable[Model], layout: Layout, rules: Rules) -> None:
    """Raise ``ValueError`` that says why a model cannot play in an environment, if one cannot."""
    names = column_names(layout)
    decided = ["action", "access"]
    if rules.action == "slots":  # else there is nothing to clear
        decided.append("clears")
    for model in models:
        check_writes(model)
        trained = model.rules
        for what in decided:
            had, has = getattr(trained, what), getattr(rules, what)
            if had != has:
                remedy = f"; compare it with --action {had}" if what == "action" else ""
                raise ValueError(
                    f"{model.path}: was trained with {what}={had!r}; this environment has {has!r}"
                    f"{remedy}"
                )
        check_columns(model, names)


def check_writes(model: Model) -> None:
    """Raise ``ValueError`` where a model plays the writer's opponent, and so cannot write."""
    if model.seat != WRITER:
        raise ValueError(
            f"{model.path}: was trained as the writer's opponent ({model.seat}) and cannot write; "
            "name it with --opponent"
        )


def check_columns(model: Model, names: Mapping[str, Sequence[str]]) -> None:
    """Raise ``ValueError`` where a model was trained on other columns than are shown."""
    for array, columns in model.card.columns.items():
        other = names.get(array, [])
        different = [name for name in (*columns, *other) if (name in columns) != (name in other)]
        if different:
            raise ValueError(
                f"{model.path}: was trained on other columns than this environment shows: "
                f"'{array}' differs in {', '.join(different[:4])}"
            )


def _files(folder: Path) -> list[Path]:
    return [file for pattern in PLACES for file in sorted(folder.glob(pattern))]
