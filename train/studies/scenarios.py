"""Policies on the scenarios in which memories are reported to fail: kept or lost."""

from __future__ import annotations

from collections.abc import Sequence

from memenvs.envs.levels import LEVELS
from memenvs.materials.scenarios import SCENARIOS
from memenvs.policies import policy_class
from memenvs.policies.published import TODAY
from memenvs.policies.published.judge import stand_in_alone
from memenvs.train.places import Instance, Place
from memenvs.train.playing import Playing
from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.studies.study import Findings, Record, Tell
from memenvs.train.units import units

EPISODES = 20  # the queries settled on the way are drawn
DEFAULT_POLICIES = ("fifo", *TODAY, "trust", "optimal")


def study(tell: Tell, *, policy: Sequence[str], episodes: int, seed: int) -> Findings:
    """Play the scenarios, and lay out what was kept."""
    scores = play_scenarios(policy or DEFAULT_POLICIES, episodes=episodes, seed=seed)
    rows = shares(scores)
    described = [
        {"name": s.name, "failure": s.failure, "good": s.good, "capacity": s.capacity}
        for s in SCENARIOS
    ]
    return Findings(
        document={"scenarios": described, "rows": rows},
        tables=[table_of(rows)],
        notes=[f"{number:>2} {each.name}: {each.good}" for number, each in enumerate(SCENARIOS, 1)],
        scores=scores,
    )


@stand_in_alone()
def play_scenarios(policies: Sequence[str], *, episodes: int, seed: int) -> list[Record]:
    """Play every scenario at level 1b, at its own capacity; a row for each episode and policy.

    ``kept``: whether it ended with what a good memory holds, in what the policy itself holds valid.
    No model is asked, whatever is configured: the observable stand-in judges. Raises ``ValueError``
    for an unknown policy before anything is played.
    """
    policies = list(dict.fromkeys(policies))
    for name in policies:
        policy_class(name)
    rows = []
    for scenario in SCENARIOS:
        material = scenario.material()
        arguments = {"material": material, "capacity": scenario.capacity, **LEVELS["1b"]}
        place = Place("", arguments, (Instance(material.name, material),))
        playing, played = (
            Playing(place, episodes=episodes, seed=seed),
            units(place.instances, episodes, seed),
        )
        for name in policies:
            for unit, ended in zip(played, playing.all(name, played), strict=True):
                own = zip(material.claim_ids, ended.own, strict=True)
                rows.append(
                    {
                        "policy": name,
                        "scenario": scenario.name,
                        "episode": unit.episode,
                        "seed": unit.seed,
                        "kept": bool(scenario.kept([id for id, stored in own if stored])),
                    }
                )
    return rows


def shares(scores: Sequence[Record]) -> list[Record]:
    """Give the share of episodes in which each policy kept what each scenario asks for."""
    found: dict[tuple[str, str], list[bool]] = {}
    for row in scores:
        found.setdefault((row["policy"], row["scenario"]), []).append(row["kept"])
    return [
        {"policy": policy, "scenario": scenario, "kept": sum(kept) / len(kept)}
        for (policy, scenario), kept in found.items()
    ]


def run_scenarios(
    policies: Sequence[str] = DEFAULT_POLICIES, *, episodes: int = EPISODES, seed: int = 0
) -> list[Record]:
    """Play every scenario; a row for each policy and scenario with the share that was kept."""
    return shares(play_scenarios(policies, episodes=episodes, seed=seed))


LISTED = Table(
    [
        Column("", lambda each: SCENARIOS.index(each) + 1, str),
        text_column("material", lambda each: f"scenario-{each.name}", "name"),
        Column("S", lambda each: each.capacity, str),
        text_column("what goes wrong", lambda each: each.failure),
        text_column("a good memory", lambda each: each.good),
    ],
    SCENARIOS,
)


def table_of(rows: Sequence[Record]) -> Table:
    """Give a row for each policy and a column for each scenario, by its number."""
    kept = {(row["policy"], row["scenario"]): row["kept"] for row in rows}

    def column(number: int, scenario: str) -> Column:
        return Column(str(number), lambda name: kept[name, scenario], verdict)

    columns = [column(number, each.name) for number, each in enumerate(SCENARIOS, 1)]
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    return Table([text_column("policy", str, "name"), *columns], policies)


def verdict(kept: float) -> str:
    """Say it in a word; a share where the episodes differ."""
    if kept in (0.0, 1.0):
        return "kept" if kept else "lost"
    return f"{kept:.0%}"
