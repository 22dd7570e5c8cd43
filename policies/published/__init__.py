"""The memories people use today, as write policies over observations: one file a family."""

# By name and variant, as `memenvs.policies.make` takes them.
TODAY: tuple[str, ...] = (
    "reflexion",
    "generative-agents",
    "generative-agents:as-coded",
    "memorybank",
    "memorybank:as-coded",
    "memgpt",
    "letta",
    "memos",
    "lightmem",
    "mem0",
    "mem0:legacy",
    "graphiti",
    "a-mem",
    "hipporag",
)
