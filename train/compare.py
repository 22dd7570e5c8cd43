"""Compare policies: rows for each material, and a summary over them with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from memenvs.envs.family import MEMORIZATION, Family
from memenvs.policies import is_path
from memenvs.policies.learned.models import find_models
from memenvs.policies.resolve import given_names
from memenvs.reading.answers import ALL
from memenvs.reading.layer import Layer
from memenvs.reading.readers import limits
from memenvs.short_repr import short_repr
from memenvs.train.evaluate import Watch, evaluate, unwatched
from memenvs.train.experiment import Experiment
from memenvs.train.optima import Curve, Optima, mean_curve
from memenvs.train.provenance import file_digest, provenance
from memenvs.train.scores import Row, Scores
from memenvs.train.setting import Setting, make_setting
from memenvs.train.summary import RANDOM, Record, groups_of, row_of_instance, summary_of
from memenvs.train.terminal import Track, untracked

EPISODES_OF_ONE = 20  # of a single material
OF_TEXTS = ("longest", "pretrained")  # policies that read words
# Settings that do not say what a row of scores is.
BESIDE = {"out", "policy", "baseline"}


@dataclass(frozen=True)
class Comparison:
    """Rows and summary as JSON has them, and the mean frontier where a plot is wanted."""

    rows: tuple[Record, ...]
    summary: tuple[Record, ...]
    baseline: str
    curve: Curve | None
    layer: Layer | None  # what ``answered`` means, where it was measured
    family: Family | None = MEMORIZATION
    scores: tuple[Row, ...] = ()  # the long table behind it

    __repr__ = short_repr

    @property
    def failed(self) -> list[Row]:
        """Rows of scores of episodes that failed."""
        return [row for row in self.scores if row["status"] == "failed"]

    def as_document(self) -> Record:
        """Give the JSON form."""
        return {"rows": list(self.rows), "summary": list(self.summary)}


def compare(
    experiment: Experiment,
    policies: Mapping[str, Any] | None = None,
    *,
    curve: bool = False,
    track: Track[Any] = untracked,
    watch: Watch = unwatched,
) -> Comparison:
    """Run an experiment; ``curve`` solves the frontier between the capacities too.

    ``policies`` play besides those that the experiment names: by the names that they are given,
    whatever ``memenvs.policies.make`` takes, as a function, a class or a network. Each policy plays
    the same episodes. The random policy, for the normalised score, and the baseline, for the
    differences, are played besides those asked for. The rows of scores are kept in the experiment's
    folder as they finish, and what stands there is not played again; ``watch`` is shown the others.
    Raises ``ValueError`` for an experiment that cannot be run.
    """
    with given_names(policies):
        return _compare(experiment, list(policies or ()), curve=curve, track=track, watch=watch)


def _compare(
    experiment: Experiment,
    given: Sequence[str],
    *,
    curve: bool,
    track: Track[Any],
    watch: Watch,
) -> Comparison:
    for name in ("opponent", "game_option"):
        if name in experiment.model_fields_set:
            raise ValueError(f"--{name.replace('_', '-')} belongs to --game NAME; give that, too")
    setting = make_setting(experiment)
    layer = make_layer(experiment, setting)
    asked = list(dict.fromkeys([*experiment.policy, *given])) or default_policies(setting)
    played = list(dict.fromkeys([*asked, RANDOM, experiment.baseline]))
    optima = Optima(experiment.time_limit)
    folder = None if experiment.out is None else Path(experiment.out)
    scores = Scores(setting.place.family, folder, about(experiment, setting, played))
    try:
        found = evaluate(
            setting,
            played,
            episodes=episodes_of(experiment, setting),
            seed=experiment.seed,
            optima=optima,
            layer=layer,
            scores=scores,
            track=track,
            watch=watch,
        )
    finally:
        scores.close()
    groups = groups_of(setting, scores)
    rows, summary = [], []
    for capacity, policy in product(setting.places, asked):
        named = found.named[capacity, policy]
        own = [
            row_of_instance(setting, groups, (policy, each.name, capacity))
            for each in setting.instances
        ]
        for row, instance in zip(own, setting.instances, strict=True):
            row["seen"] = named.has_seen(instance.name)
        nested = named.nested or found.named[capacity, experiment.baseline].nested
        rows += own
        summary.append(summary_of(setting, groups, policy, capacity, experiment, own, nested))
        summary[-1]["remark"] = named.remark()
    drawn = mean_curve(setting, optima, track=track) if curve and setting.envs else None
    return Comparison(
        tuple(rows),
        tuple(summary),
        experiment.baseline,
        drawn,
        layer,
        setting.place.family,
        tuple(scores.rows.values()),
    )


def make_layer(experiment: Experiment, setting: Setting) -> Layer | None:
    """Give the end-to-end layer of an experiment, where the utility is end-to-end.

    Raises ``ValueError`` for unknown names, and for any without that utility.
    """
    names = ("reader", "reasoner", "correct")
    given = {name: value for name in names if (value := getattr(experiment, name)) is not None}
    if setting.utility != "end-to-end" and limits(given.get("reader", ALL)):
        del given["reader"]  # the environment's, with any utility
    if setting.utility == "end-to-end":
        rules = next(iter(setting.places.values())).rules
        limited = {"reader": rules.reader} if rules is not None and rules.reader != ALL else {}
        return Layer(**{**limited, **given})
    if given:
        raise ValueError(f"--{min(given)} belongs to --utility end-to-end; give that, too")
    return None


def default_policies(setting: Setting) -> list[str]:
    """Policies to play where none is named; those that read words only where there are texts."""
    family = setting.place.family
    if family is not MEMORIZATION:
        return [RANDOM] if family is None else list(family.policies)
    texts = all(env.unwrapped.layout.limits.texts for env in setting.envs.values())  # type: ignore[attr-defined]
    return [name for name in family.policies if texts or name not in OF_TEXTS]


def episodes_of(experiment: Experiment, setting: Setting) -> int:
    """Episodes of each instance: several where there is only one."""
    return experiment.episodes or (EPISODES_OF_ONE if len(setting.instances) == 1 else 1)


def about(experiment: Experiment, setting: Setting, policies: Sequence[str]) -> Record:
    """Say how scores come about: the settings as resolved, the files behind them, the machine."""
    settings = experiment.model_dump(by_alias=True, exclude=BESIDE)
    models = {
        name: [file_digest(model.path) for model in find_models(name)]
        for name in policies
        if is_path(name)
    }
    return {
        "settings": settings | {"episodes": episodes_of(experiment, setting)},
        "arguments": {
            str(capacity): {k: repr(v) for k, v in place.arguments.items() if k != "material"}
            for capacity, place in setting.places.items()
        },
        "files": {m: file_digest(Path(m)) for m in experiment.material if Path(m).is_file()},
        "models": models,
        **provenance(),
    }
