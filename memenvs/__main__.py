"""`python -m memenvs` is the command line."""

from memenvs.train.cli import main

main()
