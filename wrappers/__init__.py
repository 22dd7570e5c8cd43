"""Gymnasium wrappers: flatten or extend what is seen, split, scalarise or shape what is paid."""

from memenvs.wrappers.bisimulation_memory import BisimulationMemory, VectorBisimulationMemory
from memenvs.wrappers.exact_difference import ExactDifferenceShaping
from memenvs.wrappers.final_info import FinalInfo
from memenvs.wrappers.flatten import FlattenWithColumns
from memenvs.wrappers.leave_one_out import LeaveOneOutCredit
from memenvs.wrappers.linear_reward import LinearReward
from memenvs.wrappers.oracle_observation import OracleObservation
from memenvs.wrappers.sampled_difference import SampledDifferenceShaping
from memenvs.wrappers.text_observation import TextObservation
from memenvs.wrappers.vector_reward import VectorReward
from memenvs.wrappers.weighted_tree_memory import VectorWeightedTreeMemory, WeightedTreeMemory

__all__ = [
    "BisimulationMemory",
    "ExactDifferenceShaping",
    "FinalInfo",
    "FlattenWithColumns",
    "LeaveOneOutCredit",
    "LinearReward",
    "OracleObservation",
    "SampledDifferenceShaping",
    "TextObservation",
    "VectorBisimulationMemory",
    "VectorReward",
    "VectorWeightedTreeMemory",
    "WeightedTreeMemory",
]
