"""The command line, as tests call it."""

import json
import sys
from typing import Any

from click.testing import CliRunner, Result

from memenvs.train.cli import main

RUN = [sys.executable, "-c", "from memenvs.train.cli import main; main()"]


def memenvs_cli(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, list(arguments))


def answer(*arguments: str) -> Any:
    """Run a command whose whole standard output is JSON, and parse it strictly."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    result = memenvs_cli(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout, parse_constant=refuse)
