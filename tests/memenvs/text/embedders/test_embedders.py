"""Encoders that are models: small ones made here, a local server, a cache, their descriptions."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from memenvs import Claim, Item, Material, MaterialError, Query
from memenvs.storage.reading import sealed
from memenvs.text.cache import Cache
from memenvs.text.embedders.caching import CachedEncoder
from memenvs.text.embedders.endpoint import EndpointEncoder
from memenvs.text.embedders.named import named_encoder
from memenvs.text.encoder_files import encoder_of, save_encoder
from memenvs.text.encoders import HashingEncoder, encoder_description, make_encoder
from memenvs.text.model_server import ServerError
from memenvs.text.tfidf import TfidfEncoder

TEXTS = ["red fish", "blue fish", "red red sky", "fish"]
WORDS = {"[UNK]": 0, "[PAD]": 1, "red": 2, "blue": 3, "fish": 4, "sky": 5}
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)


def mean(text):
    """What a model of static vectors gives: the mean of its words' vectors, of length 1."""
    row = VECTORS[[WORDS[word] for word in text.split()]].mean(axis=0)
    return row / np.linalg.norm(row)


EXPECTED = np.stack([mean(text) for text in TEXTS])


def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def model2vec(folder):
    from model2vec import StaticModel

    StaticModel(VECTORS, tokenizer(), normalize=True).save_pretrained(folder)
    return str(folder)


def onnx(folder, axes=3):
    """Write a model that looks vectors up; with two axes it takes the mean itself."""
    from onnx import TensorProto, checker, helper, numpy_helper, save

    folder.mkdir()
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    shape = ["batch", "length", 4]
    if axes == 2:
        nodes.append(helper.make_node("ReduceMax", ["tokens", "axis"], ["pooled"], keepdims=0))
        shape = ["batch", 4]
    graph = helper.make_graph(
        nodes,
        "lookup",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(VECTORS, "table"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    checker.check_model(made)
    save(made, folder / "model.onnx")
    tokenizer().save(str(folder / "tokenizer.json"))
    return str(folder)


def sentence_transformers(folder):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    modules = [StaticEmbedding(tokenizer(), embedding_weights=VECTORS)]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    return str(folder)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "make", [model2vec, onnx, pytest.param(sentence_transformers, marks=pytest.mark.slow)]
)
def test_a_model_on_disk_encodes_and_travels_by_path(make, tmp_path, monkeypatch):
    encoder = named_encoder(make(tmp_path / "model"), model=None, dimension=None)
    assert encoder.kind == make.__name__.replace("_", "-")
    assert encoder.dimension == 4
    assert np.allclose(encoder.encode(TEXTS), EXPECTED, atol=1e-6)
    assert encoder.encode([]).shape == (0, 4)
    description = json.loads(json.dumps(encoder_description(encoder)))
    assert make_encoder(description) == encoder
    monkeypatch.chdir(tmp_path)
    assert named_encoder("model", model=None, dimension=None) == encoder  # from anywhere
    assert description.keys() == {"kind", "digest"}  # where it lies is the user's to say
    for digest in ("0", 64 * "0", "../../etc/passwd"):
        with pytest.raises(MaterialError, match="was not used on this machine; give encoder="):
            make_encoder({**description, "digest": digest})
    with pytest.raises(MaterialError, match="field 'digest': is missing"):
        make_encoder({"kind": description["kind"]})
    monkeypatch.setenv("MEMENVS_STATE", str(tmp_path / "another user's"))
    with pytest.raises(MaterialError, match="memenvs trust PATH"):
        make_encoder(description)


def test_an_onnx_model_may_pool_itself(tmp_path):
    encoder = named_encoder(onnx(tmp_path / "model", axes=2), model=None, dimension=None)
    row = np.maximum(VECTORS[WORDS["red"]], VECTORS[WORDS["fish"]])
    assert np.allclose(encoder.encode(["red fish"]), row / np.linalg.norm(row), atol=1e-6)
    file = named_encoder(str(tmp_path / "model" / "model.onnx"), model=None, dimension=None)
    assert np.allclose(file.encode(["red fish"]), encoder.encode(["red fish"]))


def test_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(MaterialError, match=r"has no tokenizer.json beside it"):
        named_encoder(str(tmp_path), model=None, dimension=None).encode(["a"])
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(MaterialError, match="cannot be loaded"):
        named_encoder(str(tmp_path), model=None, dimension=None).encode(["b"])
    (tmp_path / "empty").mkdir()
    for name, model, dimension, problem in (
        (str(tmp_path / "empty"), None, None, "is no model known here"),
        (str(tmp_path / "gone"), None, None, "gone': is no encoder: give tfidf, hashing, the path"),
        ("hashing", "x", None, "belongs to an endpoint"),
        ("http://127.0.0.1:9", None, None, "wants a model"),
        (str(tmp_path), None, 3, "the length of its vectors is the model's"),
        ("ftp://x", None, None, "is no encoder"),
        (str(tmp_path / "tokenizer.json"), None, None, "is no folder"),
    ):
        with pytest.raises(MaterialError, match=problem):
            named_encoder(name, model=model, dimension=dimension)
    assert named_encoder("hashing", model=None, dimension=3) == HashingEncoder(3)
    assert named_encoder("tfidf", model=None, dimension=3) is None


class Server(ThreadingHTTPServer):
    """Embeds by counting letters; ``fault`` replaces what it sends."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.fault = [], None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


def letters(text):
    return [float(text.count(letter)) for letter in "abr "]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], body))
        rows = [{"index": n, "embedding": letters(t)} for n, t in enumerate(body["input"])]
        sent = json.dumps({"data": rows[::-1]})  # in any order
        sent = (sent if self.server.fault is None else self.server.fault).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_an_endpoint_is_asked_in_batches_with_its_key(server, monkeypatch):
    monkeypatch.setenv("MEMENVS_EMBEDDINGS_KEY", "secret")
    monkeypatch.setenv("MEMENVS_EMBEDDINGS_URL", server.url)
    encoder = named_encoder(server.url, model="m", dimension=None)
    assert encoder == EndpointEncoder(server.url, "m", 4)
    texts = ["a" * (n + 1) + "b" for n in range(100)]
    rows = encoder.encode(texts)
    assert np.allclose(rows[2], np.array([3, 1, 0, 0]) / np.sqrt(10))
    assert [len(body["input"]) for _, _, body in server.asked] == [1, 64, 36]
    assert {(path, key) for path, key, _ in server.asked} == {("/v1/embeddings", "Bearer secret")}
    description = encoder_description(encoder)
    assert "secret" not in json.dumps(description)
    assert make_encoder(description) == encoder


@pytest.mark.parametrize(
    "fault",
    [
        '{"data": []}',
        '{"data": [{"index": 0, "embedding": [1, 2]}]}',
        '{"data": [{"index": 0, "embedding": [1, 2, 3, NaN]}]}',
        '{"data": 3}',
        "<html>",
    ],
)
def test_an_endpoint_that_misbehaves_is_named(fault, server, monkeypatch):
    monkeypatch.setattr("memenvs.text.model_server.time.sleep", lambda seconds: None)
    server.fault = fault
    with pytest.raises(ServerError, match=f"the encoder at {server.url}/embeddings (did not )?sen"):
        EndpointEncoder(server.url, "m", 4).encode(["a"])
    assert len(server.asked) == 4


class Counting:
    """Counts what it is given; its description is that of the hashing it does."""

    kind = "hashing"
    dimension = 8

    def __init__(self):
        self.given = []

    def encode(self, texts):
        self.given += texts
        return HashingEncoder(8).encode(texts)

    def describe(self):
        return {"dimension": 8}

    @classmethod
    def from_description(cls, description):
        return cls()


def test_a_cache_spares_what_was_encoded_before(tmp_path):
    texts = [f"text {n % 300}" for n in range(600)]
    inner, steps = Counting(), []
    cached = CachedEncoder(inner, Cache(tmp_path), steps.append)
    expected = HashingEncoder(8).encode(texts).astype(np.float32)
    assert (cached.encode(texts) == expected).all()
    assert inner.given == texts[:300]  # each text once
    assert sum(steps) == 600
    again = Counting()
    assert (CachedEncoder(again, Cache(tmp_path)).encode(texts) == expected).all()
    assert again.given == []
    assert cached.encode([]).shape == (0, 8)


def test_an_interruption_loses_one_batch_at_most(tmp_path):
    class Stopping(Counting):
        def encode(self, texts):
            if self.given:
                raise KeyboardInterrupt
            return super().encode(texts)

    texts = [f"text {n}" for n in range(600)]
    with pytest.raises(KeyboardInterrupt):
        CachedEncoder(Stopping(), Cache(tmp_path)).encode(texts)
    after = Counting()
    CachedEncoder(after, Cache(tmp_path)).encode(texts)
    assert after.given == texts[256:]


def test_a_fitted_encoder_travels_whole(tmp_path):
    material = Material(
        "m",
        tuple(Claim(id=str(n), text=text) for n, text in enumerate(TEXTS)),
        (Item(id="n", supports=(("0",),), answers=("q",)),),
        (Query(id="q"),),
    )
    encoder = TfidfEncoder.fit([material], 3)
    path = save_encoder(encoder, tmp_path / "m.jsonl")
    assert path.name == "m.jsonl.encoder.json"
    read = encoder_of(tmp_path / "m.jsonl")
    assert (read.encode(TEXTS) == encoder.encode(TEXTS)).all()
    path.unlink()
    assert encoder_of(tmp_path / "m.jsonl") is None
    encoder.save(tmp_path / "m.jsonl.encoder.npz")
    assert (encoder_of(tmp_path / "m.jsonl").encode(TEXTS) == encoder.encode(TEXTS)).all()
    path.write_text("[]")
    with pytest.raises(MaterialError, match="is no encoder that memenvs saved"):
        encoder_of(tmp_path / "m.jsonl")
    document = sealed({"format": "memenvs.encoder/1", "kind": "tfidf", "npz": "AAAA"})
    path.write_text(json.dumps(document))
    with pytest.raises(MaterialError, match=f"{path}.*is no encoder that memenvs saved"):
        encoder_of(tmp_path / "m.jsonl")


def test_a_description_of_another_kind_is_refused():
    for description in ({}, {"kind": "x"}, {"kind": ["hashing"]}):
        with pytest.raises(MaterialError, match="is no kind of encoder"):
            make_encoder(description)

    class Own:
        dimension = 2

    with pytest.raises(ValueError, match="Own has no description"):
        encoder_description(Own())
