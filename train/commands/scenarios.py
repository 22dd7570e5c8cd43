"""`memenvs scenarios`: what policies keep where memories in use are reported to fail."""

from __future__ import annotations

import click


@click.command()
@click.option("--policy", multiple=True, help="Repeat it. Default: the memories in use today.")
@click.option("--episodes", type=click.IntRange(1), default=20, help="Of each scenario (20).")
@click.option("--seed", type=click.IntRange(0), default=0, help="Of episodes and policies (0).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def scenarios(policy: tuple[str, ...], episodes: int, seed: int, as_json: bool) -> None:
    """Play ten small materials in which memories fail, and say what each policy kept.

    "kept": it ended with what a good memory holds; "lost": it did not; a share, where episodes
    differ. The materials are named scenario-NAME in the other commands. No model is asked: an
    observable stand-in judges, whatever MEMENVS_JUDGE_URL says.
    """
    from memenvs.materials.scenarios import SCENARIOS
    from memenvs.train import terminal
    from memenvs.train.studies.scenarios import DEFAULT_POLICIES, run_scenarios, verdict

    policies = list(dict.fromkeys(policy)) or list(DEFAULT_POLICIES)
    rows = run_scenarios(policies, episodes=episodes, seed=seed)
    if as_json:
        described = [
            {"name": s.name, "failure": s.failure, "good": s.good, "capacity": s.capacity}
            for s in SCENARIOS
        ]
        click.echo(terminal.as_json({"scenarios": described, "rows": rows}))
        return
    found = {(row["policy"], row["scenario"]): verdict(row["kept"]) for row in rows}
    console = terminal.make_console()
    cells = [[name, *(found[name, s.name] for s in SCENARIOS)] for name in policies]
    numbers = [str(place + 1) for place in range(len(SCENARIOS))]
    console.print(terminal.plain_table(["policy", *numbers], cells, {"policy"}))
    for number, scenario in zip(numbers, SCENARIOS, strict=True):
        console.print(f"{number:>2} {scenario.name}: {scenario.good}", style="dim")
