"""Materials of an environment that a training is evaluated on."""

from __future__ import annotations

import numpy as np

from memenvs.envs.memorization.vector import MemorizationVectorEnv
from memenvs.material.material import Material
from memenvs.materials.generator.tiers import Split

DRAWS = 0x7E57  # seeds of materials that a callable draws


def materials_of(env: MemorizationVectorEnv, count: int) -> list[Material]:
    """Give ``count`` materials: a split's first, drawn ones, or the fixed ones again and again.

    Raises ``ValueError`` where a split has fewer.
    """
    fixed = env.materials.fixed
    if isinstance(fixed, Split):
        if count > len(fixed):
            raise ValueError(f"the split '{fixed.name}' has {len(fixed)} materials, not {count}")
        return list(fixed[:count])
    if fixed:
        return [fixed[place % len(fixed)] for place in range(count)]
    return [env.materials.draw(np.uint64(DRAWS + place)) for place in range(count)]
