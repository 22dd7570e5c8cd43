"""The command line: `memenvs envs | check | convert | frontier | compare | play | ...`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from memenvs.train.commands.check import check
from memenvs.train.commands.compare import compare
from memenvs.train.commands.convert import convert
from memenvs.train.commands.envs import envs
from memenvs.train.commands.frontier import frontier
from memenvs.train.commands.headroom import headroom
from memenvs.train.commands.memories import memories
from memenvs.train.commands.play import play
from memenvs.train.commands.scenarios import scenarios

BAD_INPUT = 2
BROKEN_PIPE = 1
INTERRUPTED = 130
EXTRAS = {"sklearn": "text", "matplotlib": "plot", "torch": "train", "stable_baselines3": "train"}


class OneLineErrors(click.Group):
    """A group of commands that answers bad input with one line and exit code 2."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **extra: Any) -> Any:
        """Run a command and exit."""
        extra["standalone_mode"] = False
        try:
            code = super().main(args, *others, **extra)
            sys.stdout.flush()
        except (KeyboardInterrupt, click.Abort):
            code = INTERRUPTED
        except BrokenPipeError:
            code = _reader_left()
        except click.ClickException as error:
            code = _refuse(error.format_message())
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            code = _refuse(f"needs {package}: pip install 'memenvs[{EXTRAS[package]}]'")
        except OSError as error:
            code = _reader_left() if error.errno == errno.EPIPE else _refuse(_system(error))
        except MemoryError:
            code = _refuse("needs more memory than this machine has; ask for less")
        except ValueError as error:  # MaterialError is one
            code = _refuse(str(error))
        sys.exit(code if isinstance(code, int) else 0)


def _refuse(problem: str) -> int:
    line = " ".join(problem.split())
    # What a terminal would obey, and half a surrogate pair, are shown by their codes.
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    click.echo(f"memenvs: {shown}", err=True)
    return BAD_INPUT


def _system(error: OSError) -> str:
    name = "" if error.filename is None else f"{error.filename}: "
    return f"{name}{error.strerror or error}"


def _reader_left() -> int:
    """Keep quiet where the reader of a pipe has seen enough, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


@click.group(
    cls=OneLineErrors,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
)
@click.version_option(package_name="memenvs", message="%(prog)s %(version)s")
def main() -> None:
    """Environments in which an agent learns what to remember."""


for command in (envs, check, convert, frontier, compare, headroom, memories, play, scenarios):
    main.add_command(command)
