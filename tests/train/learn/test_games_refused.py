"""Trainings in games that cannot be: one sentence, and nothing is begun."""

from pathlib import Path

import pytest

from commands import memenvs_cli
from game_trainings import short
from memenvs.train.learn.run import train


@pytest.fixture(scope="module")
def poisoner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("poisoner")
    train(short("poisoner", steps=64), folder)
    return folder


MISFITS = {
    ("shared-writers", "game.name=shared"): "did you mean 'shared-writers'?",
    ("shared-writers", "game.sat=writer"): "'game.sat': is unknown; did you mean 'seat'?",
    ("shared-writers", "game.options.writer=3"): "did you mean 'writers'?",
    (
        "shared-writers",
        "game.options.writers=many",
    ): "'writers' of shared-writers: should be a valid",
    ("shared-writers", "game.seat=poisoner"): "has no agent 'poisoner'; choose from writer",
    ("shared-writers", "game.opponents=[wait]"): "has no agent against the writers",
    ("shared-writers", "game.self-play={rounds: 2}"): "self-play is for the writer of a game that",
    (
        "shared-writers",
        "shaping={wrapper: exact-difference}",
    ): "'shaping' cannot be used for the writer",
    ("shared-writers", "start=OPPONENT"): "is a network 'opponent' (seat: poisoner)",
    ("shared-writers", "start=nowhere/"): "there is no such model",
    ("self-play", "game.self-play.rouns=2"): "'game.self-play.rouns': is unknown; did you mean",
    ("self-play", "game.opponents=[honest]"): "no opponent of this game is named 'honest'",
    ("self-play", "hyperparameters.n-step=2"): "did you mean 'n-steps'?",
    ("self-play", "game.self-play.network=pointer"): "a poisoner is trained with network opponent",
    ("poisoner", "network=mlp"): "a poisoner is trained with network opponent, not 'mlp'",
    ("poisoner", "algorithm=ppo"): "network 'opponent' is trained by maskable-ppo alone",
    ("poisoner", "feature-dropout=0.3"): "'feature-dropout' cannot be used for the poisoner",
    ("poisoner", "imitation={teacher: trust}"): "no opponent of this game is named 'trust'",
    ("poisoner", "game.opponents=[optimal]"): "'optimal' is an oracle",
    ("poisoner", "game.opponents=[OPPONENT]"): "and cannot write",
    ("poisoner", "env=memenvs/OdysseyNoisy-v0"): "a poisoner needs access='stream'",
    ("hidden", "network=opponent"): "network 'opponent' is unknown",
}


@pytest.mark.parametrize(("config", "assignment"), MISFITS)
def test_what_does_not_fit_is_one_line_and_begins_nothing(
    config: str, assignment: str, poisoner: Path, tmp_path: Path
) -> None:
    given = assignment.replace("OPPONENT", str(poisoner))
    folder = tmp_path / "run"
    result = memenvs_cli("train", config, "--set", given, "--out", str(folder))
    assert result.exit_code == 2
    assert MISFITS[config, assignment] in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not folder.exists()
