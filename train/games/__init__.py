"""Training and comparing in games of several agents: seats, opponents, payoffs."""
