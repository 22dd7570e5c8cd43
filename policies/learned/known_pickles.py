"""What a zip file of stable-baselines3 says of its network, read without running what it names.

The file holds pickles. Of those that are needed to build the network nothing is taken but spaces,
arrays, and classes of a list: any other name is refused before it is looked up.
"""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
from typing import Any

import torch

from memenvs.errors import MaterialError
from memenvs.policies.learned.plain import ACTIVATIONS, CLASSES
from memenvs.policies.learned.saved import LONGEST
from memenvs.storage import archives
from memenvs.storage.archives import read_archive

NEEDED = ("policy_class", "observation_space", "action_space", "policy_kwargs")
SPACES = ("Box", "Dict", "Discrete", "MultiBinary", "MultiDiscrete", "Tuple")
ARRAYS = ("_reconstruct", "scalar", "_frombuffer")
RANDOM = (  # a space carries its generator
    *("__generator_ctor", "__bit_generator_ctor", "Generator", "PCG64", "SeedSequence"),
    *("__pyx_unpickle_SeedSequence", "__pyx_unpickle_SeedlessSequence"),
)
LAYERS = ("FlattenExtractor", "CombinedExtractor", "NatureCNN", "MlpExtractor")
OWN = {(path.partition(":")[0], path.partition(":")[2]) for path in CLASSES.values()}
OWN |= {("memenvs.envs.memorization.layout", name) for name in ("Layout", "Limits", "Columns")}
OWN |= {("memenvs.envs.memorization.rules", "Actions"), ("collections", "OrderedDict")}
OWN |= {("numpy", "ndarray"), ("numpy", "dtype"), ("torch.optim.adam", "Adam")}
OWN |= {("torch.optim.rmsprop", "RMSprop")}  # they are not used
OWN |= {("stable_baselines3.common.sb2_compat.rmsprop_tf_like", "RMSpropTFLike")}


class _Known(pickle.Unpickler):
    """Finds what is on the list, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Give a listed class or constructor; raises ``UnpicklingError`` for any other."""
        trained = module.startswith(("stable_baselines3.", "sb3_contrib."))
        known = (
            (module, name) in OWN
            or (module.startswith("gymnasium.spaces.") and name in SPACES)
            or (module.startswith(("numpy.core.", "numpy._core.")) and name in ARRAYS)
            or (module.startswith("numpy.random") and name in RANDOM)
            or (module == "torch.nn.modules.activation" and name in ACTIVATIONS)
            or (module == "stable_baselines3.common.torch_layers" and name in LAYERS)
            or (trained and module.endswith(".policies") and name.isidentifier())
        )
        if not known:
            raise pickle.UnpicklingError(f"{module}.{name} is not on the list")
        return super().find_class(module, name)


def read_known(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Give what builds the network, and its numbers; None where a pickle needs more than is known.

    Raises ``MaterialError`` for a file that is damaged.
    """
    archive = read_archive(path, LONGEST, "model")
    try:
        data = json.loads(archive.read("data", archives.TEXT))
        found = {name: _value(data[name]) for name in NEEDED}
        found["use_sde"] = data.get("use_sde") is True
        content = io.BytesIO(archive.read("policy.pth"))
        numbers = torch.load(content, map_location="cpu", weights_only=True)
    except MaterialError:
        raise
    except Exception:  # whatever pickles and their constructors raise
        return None
    return found, numbers


def _value(stored: Any) -> Any:
    if isinstance(stored, dict) and ":serialized:" in stored:
        content = base64.b64decode(stored[":serialized:"])
        return _Known(io.BytesIO(content)).load()
    return stored
