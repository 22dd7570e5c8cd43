"""Encoders by what a user writes: a name, a path, or an address."""

from __future__ import annotations

from memenvs.errors import MaterialError
from memenvs.text.encoders import Encoder, HashingEncoder

TFIDF = "tfidf"  # fitted on the claims, so there is none yet
NAMED = (TFIDF, "hashing")
DIMENSION = 64


def named_encoder(name: str, *, model: str | None, dimension: int | None) -> Encoder | None:
    """Give the encoder of a name ("hashing"), a model's path, or an endpoint's address.

    None stands for TF-IDF, which is fitted later. Raises ``MaterialError`` for options that the
    encoder has not, and for a model that is not there.
    """
    address = name.startswith(("http://", "https://"))
    if model is not None and not address:
        raise MaterialError("a model's name belongs to an endpoint; leave it out", record=name)
    if name == TFIDF:
        return None
    if dimension is not None and name not in NAMED:
        raise MaterialError("the length of its vectors is the model's; leave it out", record=name)
    if name == "hashing":
        return HashingEncoder(dimension or DIMENSION)
    if address:
        from memenvs.text.embedders.endpoint import EndpointEncoder

        if model is None:
            raise MaterialError("wants a model; give --encoder-model", record=name)
        return EndpointEncoder.at(name, model)
    from memenvs.text.embedders.local import local_encoder

    encoder: Encoder = local_encoder(name)
    return encoder
