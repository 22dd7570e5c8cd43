"""Frozen policies for graphical interfaces, and how a memory reads a page."""

from memenvs.policies.gui.adapter import GuiAdapter
from memenvs.policies.gui.model import ModelPolicy
from memenvs.policies.gui.scripted import ScriptedPolicy

__all__ = ["GuiAdapter", "ModelPolicy", "ScriptedPolicy"]
