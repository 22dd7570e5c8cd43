"""Tables that other pages include: fields, policies, wrappers, commands."""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING, fields
from typing import Any

import click

from generator.markdown import docstring, table, words
from memenvs import wrappers
from memenvs.material.files import KINDS
from memenvs.policies import POLICIES, policy_class
from memenvs.testing import CHECKS
from memenvs.train.cli import main as command_line


def material_fields() -> str:
    """Tabulate the fields of claims, items and queries."""
    parts = []
    for kind, record in KINDS.items():
        meanings = words()["fields"][record.__name__]
        own = [field.name for field in fields(record)]
        if list(meanings) != own:
            raise LookupError(f"docs/words.yaml describes {list(meanings)} of {kind}, not {own}")
        rows = [
            [
                f"`{field.name}`",
                json_type(str(field.type)),
                "required" if field.default is MISSING else json_default(field.default),
                meanings[field.name],
            ]
            for field in fields(record)
        ]
        parts += [f"### {kind.capitalize()}", table(("field", "JSON", "default", "meaning"), rows)]
    return "\n\n".join(parts)


def json_type(annotation: str) -> str:
    """Name the JSON type behind an annotation of the records."""
    names = {
        "str": "string",
        "float": "number",
        "bool | float": "true, false or number",
        "float | None": "number or null",
        "tuple[float, ...] | None": "list of numbers or null",
        "tuple[str, ...]": "list of strings",
        "tuple[tuple[str, ...], ...]": "list of lists of strings",
        "Mapping[str, float] | tuple[tuple[str, float], ...]": "object of numbers",
    }
    return names[annotation]


def json_default(value: Any) -> str:
    """Write a default as JSON."""
    return "empty" if value == () else f"`{json.dumps(value)}`"


def policies_table() -> str:
    """Tabulate the policies by name."""
    rows = []
    for name in POLICIES:
        found = policy_class(name)
        rows.append([f"`{name}`", docstring(found)[0], "yes" if found.privileged else ""])
    return table(("name", "what it does", "privileged"), rows)


def wrappers_table() -> str:
    """Tabulate the wrappers."""
    rows = []
    for name in wrappers.__all__:
        found = getattr(wrappers, name)
        privileged = "yes" if getattr(found, "privileged", False) else ""
        rows.append([f"`{name}`", docstring(found)[0], privileged])
    return table(("wrapper", "what it does", "privileged"), rows)


def checks_table() -> str:
    """Tabulate the checks of the contract."""
    rows = [[f"`{check.__name__}`", docstring(check)[0]] for check in CHECKS]
    return table(("check", "what holds"), rows)


def commands() -> str:
    """Write the help of every command, and of every study."""
    parts = []
    for name, command in command_line.commands.items():
        parts += command_help(f"memenvs {name}", command)
    return "\n\n".join(parts)


def command_help(path: str, command: click.Command) -> list[str]:
    """Write the help of a command and of those that belong to it."""
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"## {path}", f"```text\n{usage}\n```", inspect.cleandoc(command.help or "")]
    if rows := options(context):
        parts.append(table(("option", "meaning"), rows))
    for name, own in getattr(command, "commands", {}).items():
        parts += command_help(f"{path} {name}", own)
    return parts


def options(context: click.Context) -> list[list[str]]:
    """Give the options of a command, each with its help."""
    records = [
        option.get_help_record(context)
        for option in context.command.params
        if isinstance(option, click.Option)
    ]
    return [
        [" ".join(cell.split()).replace("|", "\\|") for cell in (f"`{record[0]}`", record[1])]
        for record in records
        if record is not None
    ]
