"""Training and comparing in games of several agents: environments, opponents, payoffs."""
