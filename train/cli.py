"""The command line: `memenvs envs | check | convert | frontier | compare | play | ...`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from memenvs.storage.messages import VisibleStream, one_line
from memenvs.train.commands.benchmark import benchmark
from memenvs.train.commands.benchmark_device import benchmark_device
from memenvs.train.commands.build import build
from memenvs.train.commands.check import check
from memenvs.train.commands.compare import compare
from memenvs.train.commands.convert import convert
from memenvs.train.commands.envs import envs
from memenvs.train.commands.frontier import frontier
from memenvs.train.commands.held_out import held_out
from memenvs.train.commands.inspect import inspect
from memenvs.train.commands.links import links
from memenvs.train.commands.play import play
from memenvs.train.commands.pretrain import pretrain
from memenvs.train.commands.register import register, unregister
from memenvs.train.commands.serve import serve
from memenvs.train.commands.study import OLDER, study
from memenvs.train.commands.train import train
from memenvs.train.commands.trust import trust

BAD_INPUT = 2
BROKEN_PIPE = 1
INTERRUPTED = 130
EXTRAS = {"sklearn": "text", "matplotlib": "plot"}
EXTRAS |= dict.fromkeys(("torch", "stable_baselines3", "sb3_contrib", "tensorboard"), "train")
EXTRAS |= dict.fromkeys(("miniwob", "selenium"), "gui")
EXTRAS["mem0"] = "mem0"
EXTRAS["mcp"] = "serve"
EXTRAS["pettingzoo"] = "multi"
EXTRAS |= dict.fromkeys(
    ("pypdf", "docx", "selectolax", "sentencex", "pysubs2", "charset_normalizer", "platformdirs"),
    "build",
)
EXTRAS |= dict.fromkeys(
    ("model2vec", "onnxruntime", "tokenizers", "sentence_transformers"), "embed"
)


class OneLineErrors(click.Group):
    """A group of commands that answers bad input with one line and exit code 2."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **extra: Any) -> Any:
        """Run a command and exit."""
        extra["standalone_mode"] = False
        _open_closed()
        streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = map(VisibleStream, streams)
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
        finally:
            sys.stdout, sys.stderr = streams
        sys.exit(code if isinstance(code, int) else 0)


def _open_closed() -> None:
    """Open on nothing what the caller closed: the first file to be opened would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - until the end


def _refuse(problem: str) -> int:
    with suppress(OSError):  # a full disk
        click.echo(f"memenvs: {one_line(problem)}", err=True)
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
@click.option(
    "--import",
    "modules",
    metavar="MODULE",
    multiple=True,
    help="Import this first: it may register environments of yours with Gymnasium. Repeat it.",
)
def main(modules: tuple[str, ...]) -> None:
    """Environments in which an agent learns what to remember."""
    if modules:
        from memenvs.policies.user_code import import_from_here  # loads numpy

        import_from_here()
    for module in modules:
        try:
            import_module(module)
        except (ImportError, TypeError) as error:  # TypeError: a path or a relative name
            hint = "; give a module's name, not a file's" if module.endswith(".py") else ""
            raise ValueError(f"--import {module}: cannot be imported{hint}: {error}") from None


for command in (
    envs,
    benchmark,
    benchmark_device,
    check,
    build,
    convert,
    frontier,
    compare,
    held_out,
    inspect,
    links,
    play,
    pretrain,
    register,
    serve,
    study,
    train,
    trust,
    unregister,
    *OLDER,
):
    main.add_command(command)
