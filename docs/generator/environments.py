"""The pages of the environments, made from the registry, the layout and docstrings."""

from __future__ import annotations

import inspect
from pathlib import Path

from generator.families import Registered
from generator.markdown import docstring, table, words
from generator.observations import observation
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.table import EnvRow
from memenvs.materials.generator.tiers import SEEDS, TIERS

HEADROOM = Path(__file__).parents[1] / "headroom.md"


def family_page(family: str, families: dict[str, list[Registered]]) -> str:
    """Document the environments of one family."""
    described, rows = words()["families"][family], families[family]
    parts = [f"# {described['title']}", described["text"].strip(), presets(rows)]
    parts += ["## Observation", observation(rows), "## Action", actions(rows)]
    parts += ["## Reward", reward(rows), "## Settings", settings(rows)]
    parts += ["## Headroom", headroom(rows), "## Example", example(rows[0])]
    return "\n\n".join(parts)


def presets(rows: list[Registered]) -> str:
    """Tabulate sizes, and the arguments of each id."""
    sizes = [
        [
            f"`{each.row.id}`",
            f"`{each.row.kwargs['material']}`",
            str(each.env.layout.limits.claims),
            str(each.env.layout.limits.queries),
            str(each.env.rules.capacity),
            ", ".join(each.row.tags),
        ]
        for each in rows
    ]
    return table(("id", "material", "claims E", "queries", "slots S", "tags"), sizes) + splits(rows)


def splits(rows: list[Registered]) -> str:
    """Say which splits there are, where the materials are a tier's."""
    tiers = [TIERS[name] for each in rows if (name := each.row.kwargs["material"]) in TIERS]
    if not tiers:
        return ""
    counts = ", ".join(f'`"{split}"` {len(SEEDS[split])}' for split in tiers[0].splits)
    return (
        f'\n\nMaterials by split: {counts}. An environment draws from `"train"` unless `split=` '
        "says otherwise; no material stands in two splits."
    )


def actions(rows: list[Registered]) -> str:
    """Tabulate the numbers of the actions."""
    cells = []
    for each in rows:
        a = each.env.actions
        writes = f"{a.first_write} to {a.first_write + a.slots - 1}"
        clears = f"{a.first_clear} to {a.first_clear + a.slots - 1}" if a.clears else "–"
        considers = f"{a.first_consider} to {a.n - 1}" if a.pool else "–"
        cells.append(
            [f"`{each.name}`", f"`Discrete({a.n})`", f"{a.PASS}", writes, clears, considers]
        )
    header = ("id", "space", "pass", "write into a slot", "clear a slot", "consider a claim")
    pool = any(each.env.actions.pool for each in rows)
    return "\n\n".join(
        [
            table(header, cells),
            "A write replaces what stood in the slot; while any slot is free, only the first free "
            "one is offered.",
            *(
                ["In a pool, while no claim is considered, one is picked; to pass is to stop."]
                * pool
            ),
            'With `action="priority"` (stream access) the action is a `Box(-1, 1, (1,))` instead: '
            "the priority of the considered claim. The S highest are kept, and there is no mask.",
        ]
    )


def reward(rows: list[Registered]) -> str:
    """Say what is paid, and when."""
    cells = []
    for each in rows:
        rules = each.env.rules
        claims = each.env.layout.limits.claims
        length = rules.length(claims)
        between = f"{rules.queries} after every {rules.every}" if rules.every else "–"
        cells.append([f"`{each.name}`", str(length), between, str(rules.closing)])
    parts = [
        "The reward of a step is the number of queries settled in it that pay, each drawn from "
        'p_D (with `settlement="expected"`, the expected number). A query pays '
        + " or ".join(
            f'under `utility="{utility}"` where {words()["utilities"][utility]}'
            for utility in dict.fromkeys(each.env.rules.utility for each in rows)
        )
        + ".",
        table(("id", "decisions", "settled between", "settled at the end"), cells),
    ]
    return "\n\n".join(parts)


def settings(rows: list[Registered]) -> str:
    """List the arguments of each id."""
    cells = [[f"`{each.row.id}`", f"`{arguments(each.row)}`"] for each in rows]
    text = (
        "`gym.make` overrides each of them, and takes the [other parameters](index.md#parameters)."
    )
    return table(("id", "arguments"), cells) + "\n\n" + text


def arguments(row: EnvRow) -> str:
    """Write the keyword arguments of a row as code."""
    return ", ".join(f"{name}={value!r}".replace("'", '"') for name, value in row.kwargs.items())


def headroom(rows: list[Registered]) -> str:
    """Take the rows of docs/headroom.md that speak of these ids, below their tables' headers."""
    names = {name for each in rows for name in (each.row.id, each.name)}
    lines = HEADROOM.read_text("utf-8").splitlines() if HEADROOM.exists() else []
    tables: dict[tuple[str, ...], list[str]] = {}
    header: tuple[str, ...] = ()
    for line in lines:
        if not line.startswith("|"):
            header = ()
        elif len(header) < 2:
            header += (line,)
        elif line.split("|")[1].strip(" `") in names:
            tables.setdefault(header, []).append(line)
    if not tables:
        return "Not measured yet; `memenvs study headroom ID` measures it."
    parts = ["\n".join([*header, *own]) for header, own in tables.items()]
    return "\n\n".join([*parts, "[Headroom](../headroom.md) says what the columns mean."])


def example(first: Registered) -> str:
    """Write a program that plays an episode."""
    return f'''```python
import gymnasium as gym
import memenvs
from memenvs.policies import make

env = gym.make("{first.row.id}")
policy = make("fifo", env)
observation, info = env.reset(seed=0)
state, over = None, False
while not over:
    action, state = policy.predict(observation, state)
    observation, reward, over, _, info = env.step(action)
print(info["precision"], info["size"], info["settled"])
```'''


def environments_page(
    families: dict[str, list[Registered]], others: dict[str, tuple[str, list[EnvRow]]]
) -> str:
    """Document what all environments share, and list them; ``others`` give page, title and rows."""
    summary, parameters, rest = docstring(MemorizationEnv)
    signature = inspect.signature(MemorizationEnv.__init__).parameters
    rows = [
        [f"`{name}`", ", ".join(f"`{default(signature[n])}`" for n in name.split(", ")), meaning]
        for name, meaning in parameters.items()
    ]
    levels = [
        [f"`{level}`", f"`{', '.join(f'{n}={v!r}' for n, v in values.items())}`".replace("'", '"')]
        for level, values in LEVELS.items()
    ]
    listed = [
        [
            f"`{each.row.id}`",
            f"[{words()['families'][family]['title']}]({family}.md)",
            each.row.level,
        ]
        for family, found in families.items()
        for each in found
    ]
    listed += [
        [f"`{row.id}`", f"[{title}]({page}.md)", row.level or "–"]
        for page, (title, found) in others.items()
        for row in found
    ]
    toctree = "\n".join([*families, *others, *(["../headroom"] * HEADROOM.exists())])
    return "\n\n".join(
        [
            "# Environments",
            "All but those on pages of their own at the end of the list are presets of one "
            f"environment, `MemorizationEnv`. {summary}",
            table(("id", "page", "level"), listed),
            "## Parameters",
            "Keyword arguments of `gym.make`; the defaults are those of `MemorizationEnv`, before "
            "a preset.",
            table(("parameter", "default", "meaning"), rows),
            rest,
            "## Levels",
            "What differs between the levels is what the agent knows. Each is a preset in "
            "`memenvs.envs.levels.LEVELS`.",
            table(("level", "arguments"), levels),
            f"```{{toctree}}\n:hidden:\n\n{toctree}\n```",
        ]
    )


def default(parameter: inspect.Parameter) -> str:
    """Write a default as code."""
    if parameter.default is inspect.Parameter.empty:
        return "required"
    return repr(parameter.default).replace("'", '"')
