"""Best memories: the frontier, its bounds and the greedy oracles."""
