"""Writes a model of SB3 with its card, which says what it was trained in."""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from memenvs.materials.generator.tiers import Split
from memenvs.policies.adapters import check_space
from memenvs.policies.base import attribute
from memenvs.policies.learned.saved import ModelCard, column_names, save_entries
from memenvs.policies.predictor import spaces_of
from memenvs.text.encoders import HashingEncoder, encoder_description

PACKAGES = ("memenvs", "gymnasium", "numpy", "stable-baselines3", "sb3-contrib", "torch")


def save(model: Any, env: Any, path: str | os.PathLike[str]) -> None:
    """Write a model of SB3 and a card that says in what it was trained; both or nothing.

    ``env`` is the memorization environment, or vector of them, that it was trained in. A model with
    a card plays at other sizes where its network can, is left out of what it was trained on, and
    serves a ``WriteMemory``. Raises ``ValueError`` for another environment, or one whose
    observations the model does not take, ``OSError`` where the file cannot be written.
    """
    label = os.fspath(path)
    try:
        layout, rules = attribute(env, "layout"), attribute(env, "rules")
        materials = attribute(env, "materials")
    except (TypeError, AttributeError):
        raise ValueError(
            f"{label}: a card describes memorization environments, and {type(env).__name__} is "
            "none; write the model with model.save(path), and it plays wherever its spaces fit"
        ) from None
    if not getattr(model.policy, "needs_history", False):
        n = 1 if rules.action == "priority" else attribute(env, "actions").n
        shown = layout.space(rules.capacity, n)
        check_space(label, "observation", model.observation_space, shown)
    check_space(label, "action", model.action_space, spaces_of(env)[1])
    card = ModelCard(
        kind="sb3",
        algorithm=type(model).__name__,
        network=type(model.policy).__name__,
        settings={},
        columns=column_names(layout),
        rules=asdict(rules),
        encoder=_encoder(materials.fixed),
        trained_on=_names(materials.fixed),
        seed=int(model.seed or 0),
        steps=int(model.num_timesteps),
        versions=_versions(),
    )
    save_model(Path(path), model, card)


def save_model(path: Path, model: Any, card: ModelCard) -> None:
    """Write a model with its card, all or nothing: for SB3, and as data beside its pickles."""
    from memenvs.policies.learned.plain import plain_entries

    parameters = io.BytesIO()
    model.save(parameters)
    with zipfile.ZipFile(parameters) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    save_entries(path, entries | plain_entries(model), card)


def _encoder(fixed: Any) -> dict[str, Any]:
    """Describe what embedded the texts; nothing where the materials brought vectors along."""
    brought = bool(fixed) and fixed[0].has_embeddings
    return {} if brought else encoder_description(HashingEncoder())


def _names(fixed: Any) -> list[str]:
    """Name the materials, or the split of a tier; nothing where a callable draws them."""
    if isinstance(fixed, Split):
        return [f"{fixed.tier.name}-{fixed.name}"]
    return [material.name for material in fixed]


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a checkout that is not installed
            continue
    return found
