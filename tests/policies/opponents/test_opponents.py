"""Trained opponents: they act as their network prefers in games of other sizes; what is refused."""

import numpy as np
import pytest
import torch

from memenvs import Claim, Item, Material, Query
from memenvs.games import poison, shared_writers_v0
from memenvs.policies import load, make
from memenvs.policies.learned.models import find_models
from memenvs.policies.learned.trained import load_network
from memenvs.policies.opponents.opponents import TrainedOpponent, make_opponent, opponents_of
from saved_models import train
from saved_opponents import make_game, save_opponent


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opponents")
    return {
        seat: save_opponent(folder / seat / "best_model.zip", seat)
        for seat in ("poisoner", "asker")
    }


def play(game, opponent, steps=40):
    """Give what the opponent saw and did, the writer being `trust`."""
    (seat,) = (name for name in game.possible_agents if name != "writer_0")
    writer, written, state, begun = make("trust", game), None, None, np.ones(game.num_envs, bool)
    seen, _ = game.reset(seed=4)
    for _ in range(steps):
        action, state = opponent.predict(seen[seat], state, begun)
        yield seen[seat], action
        claim, written = writer.predict(seen["writer_0"], written, begun)
        seen, _, _, _, infos = game.step({"writer_0": claim, seat: action})
        begun = infos["writer_0"].get("final", np.zeros(game.num_envs, dtype=bool))
    assert not game.illegal[seat].any()


@pytest.mark.parametrize("seat", ["poisoner", "asker"])
def test_it_takes_the_legal_action_that_the_network_prefers_at_another_size(saved, seat):
    game = make_game(seat, "hidden-128", episodes=2, capacity=8)
    small = make_game(seat)
    assert game.action_spaces[f"{seat}_0"].n > small.action_spaces[f"{seat}_0"].n
    opponent = make_opponent(str(saved[seat]), game)
    network = load_network(find_models(saved[seat])[0], "cpu")
    done = set()
    for observation, action in play(game, opponent):
        tensors = {name: torch.as_tensor(array) for name, array in observation.items()}
        with torch.no_grad():
            logits = network.action_logits(tensors).numpy()
        for i, mask in enumerate(observation["action_mask"]):
            legal = np.flatnonzero(mask)
            assert action[i] in legal
            assert logits[i, action[i]] == logits[i, legal].max()
            done.add(int(action[i]))
    assert len(done) > 2


def test_names_and_folders_make_opponents(saved):
    game = make_game("poisoner")
    assert type(make_opponent("imitate", game)).__name__ == "Imitate"
    assert isinstance(make_opponent(str(saved["poisoner"].parent), game), TrainedOpponent)
    assert [model.seat for model in opponents_of(saved["asker"])] == ["asker"]


def test_one_of_several_seeds_has_to_be_named(saved, tmp_path):
    for seed in (0, 1):
        target = tmp_path / "run" / f"seed-{seed}" / "best_model.zip"
        target.parent.mkdir(parents=True)
        target.write_bytes(saved["poisoner"].read_bytes())
    assert len(opponents_of(tmp_path / "run")) == 2
    with pytest.raises(ValueError, match=r"holds 2 models; name one of them: .*seed-0"):
        make_opponent(str(tmp_path / "run"), make_game("poisoner"))


def test_what_does_not_fit_is_refused_in_one_sentence(saved, tmp_path, monkeypatch):
    game = make_game("poisoner")
    for name, problem in {
        "nobody": "no opponent of this game is named 'nobody'; choose from wait, random",
        "honest": "no opponent of this game is named 'honest'",
        str(saved["asker"]): "was trained as asker, and the opponent in this game is a poisoner",
    }.items():
        with pytest.raises(ValueError, match=problem):
            make_opponent(name, game)
    with pytest.raises(ValueError, match="this game has no opponent of the writers"):
        make_opponent("wait", shared_writers_v0.vector_env(num_envs=1))
    claims = tuple(Claim(id=f"c{i}", source="s", embedding=(1.0, float(i))) for i in range(4))
    items = tuple(Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(4))
    queries = tuple(Query(id=f"q{i}", embedding=(1.0, 0.0)) for i in range(4))
    narrow = make_game("poisoner", Material("narrow", claims, items, queries), capacity=2)
    with pytest.raises(ValueError, match=r"other columns .* 'queries' differs in embedding\*16"):
        make_opponent(str(saved["poisoner"]), narrow)
    monkeypatch.setattr(poison, "LEVELS", (0.1, 0.9))
    fewer = save_opponent(tmp_path / "fewer.zip", "poisoner", make_game("poisoner"))
    monkeypatch.undo()
    with pytest.raises(ValueError, match="trained with 2 levels of confidence; this game has 3"):
        make_opponent(str(fewer), game)


def test_writers_and_opponents_do_not_take_each_others_seats(saved, tmp_path):
    game = make_game("poisoner")
    for build in (lambda path: make(str(path), game), load):
        with pytest.raises(ValueError, match=r"opponent \(poisoner\) and cannot write"):
            build(saved["poisoner"])
    train(tmp_path / "writer.zip", "hidden", network="pointer", capacity=6)
    with pytest.raises(ValueError, match="was trained as the writer; it cannot play against one"):
        make_opponent(str(tmp_path / "writer.zip"), game)
