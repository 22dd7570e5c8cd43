"""Training in games of several agents: seats, opponents, and the matrix of payoffs."""
