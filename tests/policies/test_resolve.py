"""Whatever a user brings plays: by its name, its file, its path, or as it is."""

import sys

import gymnasium as gym
import numpy as np
import pytest
import sb3_contrib
import stable_baselines3
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

import memenvs  # noqa: F401 - registers the environments
import own_policies
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import from_torch, load, make, policy_class, save
from memenvs.policies.learned.saved import read_card
from memenvs.policies.poisoning import CONTEXT_POLICIES
from memenvs.policies.resolve import given_names
from memenvs.policies.rules.simple import uniform_actions
from memenvs.policies.user_code import is_code, refuse_code
from memenvs.text.encoders import HashingEncoder, encoder_description
from memenvs.train.vec_env import SB3VecEnv, make_vec_env
from own_policies import actions_of, last, readme_model
from players import material

SMALL = {"n_steps": 8, "batch_size": 32, "n_epochs": 1}
ALGORITHMS = {
    "ppo": (stable_baselines3.PPO, SMALL),
    "a2c": (stable_baselines3.A2C, {"n_steps": 8}),
    "dqn": (stable_baselines3.DQN, {"learning_starts": 8, "buffer_size": 100}),
    "qr-dqn": (sb3_contrib.QRDQN, {"learning_starts": 8, "buffer_size": 100}),
    "trpo": (sb3_contrib.TRPO, {"n_steps": 8, "batch_size": 32}),
    "maskable-ppo": (sb3_contrib.MaskablePPO, {}),
    "recurrent-ppo": (sb3_contrib.RecurrentPPO, SMALL),
}


@pytest.fixture
def env():
    return gym.make("memenvs/Readable-v0")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A user's folder with a file of policies, from which nothing is imported yet."""
    own_policies.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    sys.modules.pop("own", None)
    return tmp_path


@pytest.mark.parametrize("place", ["own", "own.py", "./own.py", "{folder}/own.py"])
def test_a_rule_of_the_users_file_is_named(env, folder, place):
    policy = make(f"{place.format(folder=folder)}:Trusted", env)
    observation, _ = env.reset(seed=0)
    rows = observation["memory"][None]
    rows[..., policy.layout.index("source_credits")] = 3
    rows[..., policy.layout.index("source_debits")] = 1
    assert np.allclose(policy.score(rows, observation), 4 / 6)
    assert len(actions_of(policy, env)) == 32


def test_a_file_is_imported_once_and_finds_its_neighbours(env, folder):
    (folder / "beside.py").write_text("from own import last\n")
    assert make("beside.py:last", env).inner is not None
    assert policy_class("own.py:Trusted") is policy_class(f"{folder}/own.py:Trusted")


def test_a_function_is_asked_row_by_row():
    batch = MemorizationVectorEnv("readable", num_envs=3)
    observation, _ = batch.reset(seed=0)
    actions, _ = make(last, batch).predict(observation)
    assert actions.tolist() == [m.nonzero()[0][-1] for m in observation["action_mask"]]
    single = {name: array[1] for name, array in observation.items()}
    action, _ = make(last, batch).predict(single)
    assert action == actions[1]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda observation: 0, "does not take two arguments"),
        (lambda observation, mask: None, "gave None where an action of Discrete.7. is due"),
        (lambda observation, mask: 1.5, "gave 1.5 where"),
        (lambda observation, mask: [1, 2], "gave .1, 2. where"),
    ],
)
def test_a_function_that_gives_no_action_is_refused(env, function, said):
    with pytest.raises(ValueError, match=said):
        actions_of(make(function, env), env)


def test_a_network_takes_its_best_legal_action(env, folder):
    policy = make("own.py:Net", env)
    net = policy.inner
    observation, info = env.reset(seed=3)
    for _ in range(20):
        logits = net.linear(torch.as_tensor(observation["claim"])).detach().numpy()
        best = max(info["action_mask"].nonzero()[0], key=lambda a: logits[a])
        action, _ = policy.predict(observation, action_masks=info["action_mask"])
        assert action == best
        observation, *_, info = env.step(action)
    assert actions_of(from_torch(net, env), env) == actions_of(policy, env)
    assert actions_of(from_torch(lambda seen: net(seen), env), env) == actions_of(policy, env)


def test_a_network_is_left_as_it_was(env, folder):
    net = make("own.py:Net", env).inner
    net.train()
    actions_of(make(net, env), env)
    assert net.training


@pytest.mark.parametrize(
    ("forward", "said"),
    [
        (lambda seen: seen["claim"], "one logit for each action"),
        (lambda seen: None, "gives NoneType for a batch of 2"),
        (lambda seen: seen["nothing"], "fails on a batch .* KeyError"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_before_it_plays(env, forward, said):
    with pytest.raises(ValueError, match=said):
        from_torch(forward, env)


def test_an_object_keeps_its_own_state(env, folder):
    policy = make("own.py:Counting", env)
    observation, info = env.reset(seed=0)
    state = policy.start(np.array([0]))
    for step in range(6):
        legal = info["action_mask"].nonzero()[0]
        action, state = policy.predict(observation, state, action_masks=info["action_mask"])
        assert action == legal[step % len(legal)]
        observation, *_, info = env.step(action)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_zip_without_a_card_plays_as_its_model(tmp_path, env, name):
    algorithm, options = ALGORITHMS[name]
    path = tmp_path / "x.zip"
    model = readme_model(path, algorithm, **options)
    policy = make(str(path), env)
    assert policy.seen is None
    assert "not known" in policy.remark()
    observation, info = env.reset(seed=1)
    state, hidden, start, agreed = policy.start(np.array([1])), None, True, 0
    over = False
    while not over:
        mask = info["action_mask"]
        action, state = policy.predict(observation, state, action_masks=mask)
        assert mask[action]
        if name == "maskable-ppo":
            own, _ = model.predict(observation, action_masks=mask, deterministic=True)
            assert action == own
        else:
            own, hidden = model.predict(observation, hidden, np.array([start]), deterministic=True)
            assert action == own or not mask[own]
        agreed += int(action == own)
        start = False
        observation, _, over, _, info = env.step(action)
    assert agreed or name != "maskable-ppo"
    assert actions_of(make(model, env), env) == actions_of(make(str(path), env), env)
    assert actions_of(make(model.policy, env), env) == actions_of(make(path, env), env)


def test_a_model_of_other_sizes_is_refused(tmp_path):
    readme_model(tmp_path / "x.zip")
    with pytest.raises(ValueError, match=r"'memory' is of shape \(6, 39\), .* has shape \(5, 39\)"):
        make(str(tmp_path / "x.zip"), gym.make("memenvs/Readable-v0", capacity=5))
    with pytest.raises(ValueError, match="takes 'claim' in its observations"):
        make(str(tmp_path / "x.zip"), gym.make("memenvs/Poisoning-v0"))


def test_a_saved_model_has_a_card(tmp_path, env):
    envs = make_vec_env("memenvs/Readable-v0", 4, seed=0)
    model = readme_model(tmp_path / "plain.zip")
    save(model, envs, tmp_path / "carded.zip")
    card = read_card(tmp_path / "carded.zip")
    assert card.trained_on == ["readable-train"]
    assert card.steps == model.num_timesteps
    assert card.rules["capacity"] == 6
    assert card.encoder == {}  # its materials bring vectors along
    carded, plain = load(tmp_path / "carded.zip", env), make(str(tmp_path / "plain.zip"), env)
    assert actions_of(carded, env) == actions_of(plain, env)
    texts = SB3VecEnv(
        MemorizationVectorEnv(material(), num_envs=2, autoreset_mode="SameStep", every=2)
    )
    own = stable_baselines3.A2C("MultiInputPolicy", texts, n_steps=4, device="cpu").learn(8)
    save(own, texts, tmp_path / "texts.zip")
    card = read_card(tmp_path / "texts.zip")
    assert card.trained_on == ["lengths"]
    assert card.encoder == encoder_description(HashingEncoder())


def test_a_card_is_of_the_environment_that_is_named(tmp_path):
    model = readme_model(tmp_path / "plain.zip")
    with pytest.raises(ValueError, match="has shape"):
        save(model, gym.make("memenvs/Readable-v0", capacity=3), tmp_path / "y.zip")
    with pytest.raises(ValueError, match="CartPole"):
        save(model, gym.make("CartPole-v1").unwrapped, tmp_path / "y.zip")
    assert not (tmp_path / "y.zip").exists()


def test_what_is_not_there_is_said(env, folder):
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "needy.py").write_text("import no_such_package\n")
    (folder / "tight.py").write_text(
        "class Tight:\n    def __init__(self, a, b, c): ...\n    def predict(self): ...\n"
    )
    for name, said in {
        "none:Thing": "no policy is named 'none'; .* there is no module 'none'",
        "own.none:Thing": "there is no module 'own.none'",
        "none.py:Thing": "none.py: cannot be imported: .*there is no file 'none.py'",
        "own.py:Thing": "own.py: has no 'Thing'",
        "broken.py:Thing": "broken.py: cannot be imported: ZeroDivisionError",
        "needy.py:Thing": "needy.py: cannot be imported: No module named 'no_such_package'",
        "own.py:NOTE": "'own.py:NOTE' cannot play: it is of type str",
        "sys:maxsize": "'sys:maxsize' cannot play: it is of type int",
        "tight.py:Tight": "Tight cannot be made with .env, seed.",
        "fifo:fast": "'fifo' has no variant 'fast'",
    }.items():
        with pytest.raises(ValueError, match=said):
            make(name, env)


def test_names_are_told_apart():
    assert is_code("a.b:C")
    assert is_code("x/y.py:f")
    for name in ("mem0:legacy", "supervised:a.json", "runs/x", "x.zip", "run:ensemble", "fifo"):
        assert not is_code(name)
    assert not is_code("system:my_memory:Longest")


def test_given_names_last_as_long_as_they_are_given(env):
    with given_names({"mine": last}):
        assert actions_of(make("mine", env), env) == actions_of(make(last, env), env)
    with pytest.raises(ValueError, match="no policy is named 'mine'"):
        make("mine", env)
    with (
        pytest.raises(ValueError, match="'fifo' is the name of a policy"),
        given_names({"fifo": 1}),
    ):
        pass


def test_an_installed_package_names_policies(env, folder, monkeypatch):
    about = folder / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[memenvs.policies]\ntrusted = own:Trusted\n")
    monkeypatch.syspath_prepend(str(folder))
    assert actions_of(make("trusted", env), env) == actions_of(make("own:Trusted", env), env)
    with pytest.raises(ValueError, match="llm-writer, trusted, or name"):
        make("trusty", env)


def test_a_policy_that_was_built_plays_where_it_was_built_for(env):
    fifo = make("fifo", env)
    assert actions_of(make(fifo, env), env) == actions_of(fifo, env)
    with pytest.raises(ValueError, match="built for another environment"):
        make(fifo, gym.make("memenvs/Readable-v0", capacity=3))
    with pytest.raises(ValueError, match="built for another environment"):
        make(make("optimal", env), env)  # it looks into the one that it was built for


@pytest.mark.parametrize("name", CONTEXT_POLICIES)
def test_policies_of_contexts_play_in_poisoning_alone(env, name):
    poisoning = gym.make("memenvs/Poisoning-v0")
    assert actions_of(make(name, poisoning), poisoning)
    with pytest.raises(ValueError, match="MemorizationEnv is no poisoning environment"):
        make(name, env)


def test_a_policy_of_claims_says_where_it_cannot_play():
    for id, here in {
        "memenvs/Poisoning-v0": ", ".join(["random", *CONTEXT_POLICIES]),
        "memenvs/Panels-link-v0": "random, scripted",
        "CartPole-v1": "random",
    }.items():
        with pytest.raises(ValueError, match=f"is no memorization .*; choose {here}, a trained"):
            make("trust", gym.make(id))


@pytest.mark.parametrize("id", ["memenvs/Poisoning-v0", "memenvs/Panels-menu-v0"])
def test_families_are_played_by_what_needs_no_layout(id):
    place = gym.make(id)
    for given_ in ("random", last, *(["scripted"] if "Panels" in id else [])):
        assert actions_of(make(given_, place), place)
    batch = gym.make_vec(id, num_envs=3, vectorization_mode="vector_entry_point")
    observation, _ = batch.reset(seed=0)
    actions, _ = make("random", batch).predict(observation)
    assert actions.shape == (3,)
    assert observation["action_mask"][np.arange(3), actions].all()


def test_an_environment_of_others_is_played(tmp_path):
    place = gym.make("CartPole-v1")
    model = stable_baselines3.PPO("MlpPolicy", place, n_steps=16, batch_size=16, n_epochs=1)
    model.learn(16).save(tmp_path / "cart.zip")
    policy = make(str(tmp_path / "cart.zip"), place)
    observations = np.array([place.reset(seed=seed)[0] for seed in range(5)])
    actions, _ = policy.predict(observations)
    assert actions.tolist() == model.predict(observations, deterministic=True)[0].tolist()
    action, _ = policy.predict(observations[0])
    assert action == actions[0]
    for each in ("random", lambda observation, mask: int(observation[2] > 0)):
        actions, _ = make(each, place).predict(observations)
        assert actions.shape == (5,)
    assert make(torch.nn.Linear(4, 2), place).predict(observations)[0].shape == (5,)


def test_continuous_actions_are_those_of_the_model(tmp_path):
    place = gym.make("Pendulum-v1")
    model = stable_baselines3.SAC("MlpPolicy", place, learning_starts=4, buffer_size=50)
    model.learn(8).save(tmp_path / "sac.zip")
    observations = np.array([place.reset(seed=seed)[0] for seed in range(3)])
    actions, _ = make(str(tmp_path / "sac.zip"), place).predict(observations)
    own, _ = model.predict(observations, deterministic=True)
    np.testing.assert_allclose(actions, own)
    assert place.action_space.contains(make("random", place).predict(observations[0])[0])


SPACES = st.one_of(
    st.builds(
        lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 9), st.integers(-99, 99)
    ),
    st.lists(st.integers(1, 5), min_size=1, max_size=4).map(spaces.MultiDiscrete),
    st.integers(1, 5).map(spaces.MultiBinary),
    st.tuples(st.floats(-9, 0, width=32), st.floats(0, 9, width=32)).map(
        lambda ends: spaces.Box(*ends, shape=(2, 3))
    ),
    st.just(spaces.Box(-np.inf, np.inf, (2,))),
)


@given(SPACES, st.integers(0, 2**31), st.data())
@settings(max_examples=50)
def test_random_actions_are_of_the_space(space, seed, data):
    generator = np.random.default_rng(seed)
    n = int(space.n) if isinstance(space, spaces.Discrete) else 1
    legal = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    masks = np.array([[place in legal for place in range(n)]] * 4)
    for action in uniform_actions(space)(masks, lambda stream: generator.random(4)):
        assert space.contains(action)
        if isinstance(space, spaces.Discrete):
            assert action - space.start in legal


def test_a_file_of_settings_names_no_code():
    for name in ("own.py:f", "a:b", "system:a:b", "process:rm x"):
        for document in ({"policy": ["fifo", name]}, {"imitation": {"teacher": name}}):
            with pytest.raises(ValueError, match=r"x.yaml: key '\w+': .* names code to run"):
                refuse_code("x.yaml", document)
    refuse_code("x.yaml", {"policy": ["mem0:legacy", "runs/x"], "note": "a:b"})


def test_a_wrapped_environment_is_known(tmp_path):
    inner = gym.wrappers.RecordEpisodeStatistics(MemorizationEnv("odyssey", every=2))
    assert actions_of(make("fifo", inner), inner)
    vector = gym.vector.SyncVectorEnv([lambda: MemorizationEnv("odyssey", every=2)] * 2)
    observation, _ = vector.reset(seed=0)
    assert make(last, vector).predict(observation)[0].shape == (2,)
    with pytest.raises(ValueError, match="recent"):
        make("recent", vector)
