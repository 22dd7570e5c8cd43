"""The policies that have a name, and where their classes are."""

from __future__ import annotations

POLICIES: dict[str, str] = {
    "random": "memenvs.policies.rules.simple:Random",
    "fifo": "memenvs.policies.rules.simple:FirstInFirstOut",
    "reservoir": "memenvs.policies.rules.simple:Reservoir",
    "longest": "memenvs.policies.rules.simple:Longest",
    "confidence": "memenvs.policies.rules.simple:Confidence",
    "reflexion": "memenvs.policies.published.queues:Reflexion",
    "generative-agents": "memenvs.policies.published.generative_agents:GenerativeAgents",
    "memorybank": "memenvs.policies.published.memorybank:MemoryBank",
    "memgpt": "memenvs.policies.published.queues:MemGPT",
    "letta": "memenvs.policies.published.queues:Letta",
    "memos": "memenvs.policies.published.memos:MemOS",
    "hipporag": "memenvs.policies.published.graphs:HippoRAG",
    "mem0": "memenvs.policies.published.merging:Mem0",
    "a-mem": "memenvs.policies.published.graphs:AMem",
    "graphiti": "memenvs.policies.published.merging:Graphiti",
    "lightmem": "memenvs.policies.published.merging:LightMem",
    "weighted-tree": "memenvs.policies.weighted_tree.tree_policy:WeightedTreePolicy",
    "trust": "memenvs.policies.rules.trust:Trust",
    "bayes": "memenvs.policies.beliefs.bayes:Bayes",
    "bayes-queries": "memenvs.policies.beliefs.bayes_queries:BayesQueries",
    "bayes-reader": "memenvs.policies.beliefs.bayes_reader:BayesReader",
    "pretrained": "memenvs.policies.learned.pretrained:Pretrained",
    "supervised": "memenvs.policies.learned.supervised:Supervised",
    "estimator": "memenvs.policies.learned.estimator:Estimator",
    "estimator-ranker": "memenvs.policies.learned.estimator:EstimatorRanker",
    "reader-estimator": "memenvs.policies.learned.reader_estimator:ReaderEstimator",
    "bisimulation": "memenvs.policies.bisimulation.policy:Bisimulation",
    "clairvoyant": "memenvs.policies.oracles.clairvoyant:Clairvoyant",
    "greedy": "memenvs.policies.oracles.oracle:Greedy",
    "optimal": "memenvs.policies.oracles.oracle:Optimal",
    "optimal-course": "memenvs.policies.oracles.course:OptimalCourse",
}
# Those that ask something outside of this package: they have to be told what, or where it is.
OUTSIDE: dict[str, str] = {
    "system": "memenvs.policies.systems.policy:PythonSystem",
    "process": "memenvs.policies.systems.policy:Process",
    "llm-writer": "memenvs.policies.systems.llm_writer:LLMWriter",
}
# Those of the other families of environments.
ELSEWHERE: dict[str, str] = {
    "recent": "memenvs.policies.poisoning:Recent",
    "relevant": "memenvs.policies.poisoning:Relevant",
    "last-used": "memenvs.policies.poisoning:LastUsed",
    "vote": "memenvs.policies.poisoning:Vote",
    "trusted-source": "memenvs.policies.poisoning:TrustedSource",
    "logistic": "memenvs.policies.poisoning:Logistic",
    "oracle": "memenvs.policies.poisoning:Oracle",
    "scripted": "memenvs.policies.gui.scripted:ScriptedPolicy",
}
NAMES = POLICIES | OUTSIDE | ELSEWHERE
GROUP = "memenvs.policies"  # of the entry points by which packages name policies of their own
