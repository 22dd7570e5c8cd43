"""Frozen policies for graphical interfaces, how a memory reads a page, and one for any agent."""

from memenvs.policies.gui.adapter import GuiAdapter
from memenvs.policies.gui.gui_memory import GuiMemory, Suggestion
from memenvs.policies.gui.model import ModelPolicy
from memenvs.policies.gui.scripted import ScriptedPolicy

__all__ = ["GuiAdapter", "GuiMemory", "ModelPolicy", "ScriptedPolicy", "Suggestion"]
