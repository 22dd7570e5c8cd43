"""Write the parts of the documentation that the program itself knows.

`python docs/generate.py` writes them; `python docs/generate.py --check` exits with 1 and names each
file that is not what it would write. They follow from the registry, the layout, docstrings,
docs/words.yaml and docs/headroom.md (if it is there), and from nothing of the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from generator.environments import environments_page, family_page
from generator.families import find_families
from generator.others import find_others, other_page, other_title
from generator.parts import checks_table, commands, material_fields, policies_table, wrappers_table

FOLDER = Path(__file__).parent
GENERATED = ("environments", "parts")  # folders that hold nothing else
MARK = "<!-- Written by docs/generate.py: do not edit. -->\n\n"


def pages() -> dict[str, str]:
    """Give every generated file by its path in docs/."""
    families = find_families()
    made = {f"environments/{family}.md": family_page(family, families) for family in families}
    others = find_others()
    made |= {f"environments/{tag}.md": other_page(tag, rows) for tag, rows in others.items()}
    titled = {tag: (other_title(tag), rows) for tag, rows in others.items()}
    made["environments/index.md"] = environments_page(families, titled)
    made["parts/material-fields.md"] = material_fields()
    made["parts/policies.md"] = policies_table()
    made["parts/wrappers.md"] = wrappers_table()
    made["parts/checks.md"] = checks_table()
    made["parts/commands.md"] = commands()
    return {path: f"{MARK}{text.strip()}\n" for path, text in made.items()}


def stale(folder: Path) -> list[str]:
    """Name the files of a folder that are not what ``pages`` gives, and those that are too many."""
    made = pages()
    wrong = [
        path
        for path, text in made.items()
        if not (folder / path).is_file() or (folder / path).read_text("utf-8") != text
    ]
    return sorted([*wrong, *(path for path in present(folder) if path not in made)])


def write(folder: Path) -> None:
    """Write every page, and remove generated ones that are no more."""
    made = pages()
    for path in present(folder):
        if path not in made:
            (folder / path).unlink()
    for path, text in made.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def present(folder: Path) -> list[str]:
    """List the generated files that are there."""
    found = [file for name in GENERATED for file in (folder / name).glob("*.md")]
    return [file.relative_to(folder).as_posix() for file in found]


def main(arguments: Sequence[str]) -> int:
    """Write, or check with ``--check``; gives the exit code."""
    if list(arguments) not in ([], ["--check"]):
        print("usage: python docs/generate.py [--check]", file=sys.stderr)
        return 2
    if not arguments:
        write(FOLDER)
        return 0
    wrong = stale(FOLDER)
    for path in wrong:
        print(f"docs/{path} is stale; run: python docs/generate.py", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
