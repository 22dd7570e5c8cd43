"""A policy that reads advice: the evidence is a prior of the logits, and it can be saved."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.wrappers import BisimulationMemory

sb3_contrib = pytest.importorskip("sb3_contrib")


def test_evidence_moves_the_logits_by_its_scale(tmp_path):
    from memenvs.policies.gui.advised import AdvisedPolicy

    env = BisimulationMemory(PanelsEnv("tabs-3"), "scripted", mode="advise")
    model = sb3_contrib.MaskablePPO(AdvisedPolicy, env, n_steps=16, batch_size=16, seed=0)
    observation, _ = env.reset(seed=0)
    shown = {name: torch.as_tensor(array)[None] for name, array in observation.items()}
    shown["evidence"][:] = 0.0
    before = model.policy.get_distribution(shown).distribution.logits
    shown["evidence"][0, 1] = 0.1
    # The network sees the evidence, too: without what it makes of it, the logit rises by 3.
    own = model.policy.action_net.network
    torch.nn.init.zeros_(own.weight)
    raised = model.policy.get_distribution(shown).distribution.logits
    shown["evidence"][0, 1] = 0.0
    level = model.policy.get_distribution(shown).distribution.logits
    gap = (raised[0, 1] - raised[0, 0]) - (level[0, 1] - level[0, 0])
    assert float(gap.detach()) == pytest.approx(3.0, abs=1e-4)
    assert before.shape == (1, 64)
    model.learn(16)
    model.save(tmp_path / "model.zip")
    again = sb3_contrib.MaskablePPO.load(tmp_path / "model.zip")
    for name, value in model.policy.state_dict().items():
        assert torch.equal(value, again.policy.state_dict()[name]), name
    masks = env.get_wrapper_attr("action_masks")()
    assert np.isscalar(int(again.predict(observation, action_masks=masks)[0]))


def test_without_advice_it_says_what_is_missing():
    from memenvs.policies.gui.advised import AdvisedPolicy

    with pytest.raises(ValueError, match="holds no evidence; wrap the environment"):
        sb3_contrib.MaskablePPO(AdvisedPolicy, PanelsEnv("tabs-3"))
