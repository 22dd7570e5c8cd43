"""The contract that every environment of the suite meets, for users' own ids too.

``check_env_contract("memenvs/notes-v0")`` runs every check; an ``AssertionError`` says what broke.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memenvs.testing.batches import check_batch
from memenvs.testing.checks import (
    check_arrays,
    check_checkers,
    check_illegal_actions,
    check_pickle,
    check_processes,
    check_seeds,
    check_steps,
)

CHECKS: tuple[Callable[..., None], ...] = (
    check_checkers,
    check_steps,
    check_seeds,
    check_processes,
    check_pickle,
    check_illegal_actions,
    check_arrays,
    check_batch,
)


def check_env_contract(env_id: str, **kwargs: Any) -> None:
    """Run every check on an id, made with ``kwargs``; raises ``AssertionError`` at the first fault.

    Stable-Baselines3's checker runs where it is installed; what needs another process is left out
    for a material that is registered in memory alone.
    """
    for check in CHECKS:
        check(env_id, **kwargs)
