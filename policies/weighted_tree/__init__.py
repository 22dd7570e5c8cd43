"""The weighted memory tree: a hierarchical memory with retention scores, and its ablations."""

from memenvs.policies.weighted_tree.configurations import (
    ABLATIONS,
    COMPONENTS,
    CONFIGURATIONS,
    Configuration,
    configuration,
)
from memenvs.policies.weighted_tree.constants import PAPER, Constants
from memenvs.policies.weighted_tree.selector import LexicalSelector, Pool, Selector
from memenvs.policies.weighted_tree.summarizer import Branch, PlainSummarizer, Summarizer
from memenvs.policies.weighted_tree.synthesizer import Context
from memenvs.policies.weighted_tree.tokens import count_tokens
from memenvs.policies.weighted_tree.tree import WeightedTree

__all__ = [
    "ABLATIONS",
    "COMPONENTS",
    "CONFIGURATIONS",
    "PAPER",
    "Branch",
    "Configuration",
    "Constants",
    "Context",
    "LexicalSelector",
    "PlainSummarizer",
    "Pool",
    "Selector",
    "Summarizer",
    "WeightedTree",
    "configuration",
    "count_tokens",
]
