"""The studies, as data: a name, what it answers, its options and the module that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

MAX_SEED = 2**63 - 1


@dataclass(frozen=True)
class Study:
    """One study; ``study(tell, **options)`` of its module plays it and gives its findings."""

    name: str
    purpose: str  # one line
    about: str  # what else its help says
    module: str
    options: tuple[click.Parameter, ...]
    page: bool = False  # whether the older command wrote its page to a file, and no folder
    alias: bool = True  # whether there is an older command


def option(name: str, help: str, **more: Any) -> click.Option:
    """Describe an option; what has a default tells it."""
    shown = more.get("default") is not None and not more.get("is_flag")
    return click.Option([name], help=help, show_default=shown, **more)


def several(name: str, metavar: str, help: str) -> click.Option:
    """Describe an option that may be repeated."""
    return option(name, f"{help} Repeat it.", multiple=True, metavar=metavar)


def count(name: str, default: int, help: str, *, least: int = 1) -> click.Option:
    """Describe an option that takes a number."""
    return option(name, help, type=click.IntRange(least), default=default)


SEED = option("--seed", "Of episodes and policies.", type=click.IntRange(0, MAX_SEED), default=0)
JOBS = count("--jobs", 1, "Processes.")

STUDIES = (
    Study(
        "headroom",
        "What rules, beliefs and oracles reach in each environment, against the optimum.",
        "All memorization environments are measured, or those whose IDs are given.",
        "memenvs.train.studies.headroom_report",
        (
            click.Argument(["ids"], metavar="[ID ...]", nargs=-1),
            option(
                "--split",
                "Materials of generated tiers.",
                type=click.Choice(["test", "validation"]),
                default="test",
            ),
            count("--materials", 200, "Materials, or episodes of a single one.", least=2),
            option(
                "--time-limit",
                "Seconds for a material's frontier.",
                type=click.FloatRange(0),
                default=20.0,
            ),
            SEED,
            JOBS,
        ),
        page=True,
    ),
    Study(
        "memories",
        "The memories in use today on every kind of material, each against the optimum.",
        "Their rules, constants and stand-ins, the scenarios in which memories fail, and a table "
        "for each material: the Odyssey, the test split of every small tier, level 1b, LoCoMo, "
        "EntailmentBank. No model is asked: an observable stand-in judges, whatever "
        "MEMENVS_JUDGE_URL says.",
        "memenvs.train.studies.memories_report",
        (
            option("--locomo", "LoCoMo as published; without it, it is left out.", metavar="FILE"),
            option("--entailment-bank", "EntailmentBank as published; likewise.", metavar="FILE"),
            count("--materials", 200, "Materials of each tier.", least=2),
            several("--section", "TITLE", "Only the sections of this title."),
            SEED,
        ),
        page=True,
    ),
    Study(
        "scenarios",
        "What each policy keeps of ten small materials on which memories in use fail.",
        '"kept": the memory ended with what a good memory holds; "lost": it did not; a share '
        "where episodes differ. The materials are named scenario-NAME in the other commands. No "
        "model is asked: an observable stand-in judges, whatever MEMENVS_JUDGE_URL says.",
        "memenvs.train.studies.scenarios",
        (
            several("--policy", "NAME", "Default: the memories in use today."),
            count("--episodes", 20, "Episodes of each scenario."),
            SEED,
        ),
    ),
    Study(
        "tree-tasks",
        "What each component of the weighted memory tree adds on long-horizon tasks.",
        "Accuracy is the share of tasks whose final answer is right; tokens are those of all "
        "prompts, and of the questions that a model would be asked as selector and as summariser. "
        "No model is asked: a simulated agent answers from what its prompts show.",
        "memenvs.train.studies.tree_play",
        (
            count("--tasks", 100, "Tasks to play."),
            option(
                "--split",
                "Which tasks: constants are chosen on validation alone.",
                type=click.Choice(["validation", "test"]),
                default="validation",
            ),
            option("--sensitivity", "Vary the constants of the full tree instead.", is_flag=True),
        ),
    ),
    Study(
        "poisoning",
        "How far poisoned histories mislead each memory, on 100 scenarios.",
        "A policy is a configuration of the weighted tree (no-memory, linear, tree, a1, a2, a3, "
        "full and its other components), a choice of entries (recent, last-used, relevant, vote, "
        "trusted-source, logistic, the oracle oracle), or the folder of a run of `memenvs train "
        "poisoning`. A simulated reasoner answers; no language model is asked. Differences are "
        "paired with full, where it is among them.",
        "memenvs.train.studies.poisoning.report",
        (
            several("--policy", "NAME_OR_MODEL", "Default: the paper's ablations and references."),
            option("--split", "test, validation or train.", default="test"),
            count("--seeds", 10, "Seeds of the reasoner."),
            count("--budget", 120, "Tokens of memories in a prompt."),
            option(
                "--attack",
                "What the attacker does: plain, mimicry, question-prefix, repetition, late-copy, "
                "late-spoof, success, split, all.",
                default="plain",
            ),
            option("--set-seed", "Draw a set of scenarios from this seed.", type=int),
        ),
    ),
    Study(
        "gui",
        "Which merge rule lets a memory help on pages that look alike.",
        "All systems rerank the shortlists of one frozen policy, on the same instances, and take "
        "the same detours in the first third of each run; the rest is reported against the "
        "memoryless system. Without --model-url a scripted policy gives the shortlists. The "
        "model's key, if it wants one, is read from MEMENVS_MODEL_KEY, "
        "and sent where MEMENVS_MODEL_URL says and nowhere else.",
        "memenvs.train.studies.gui.report",
        (
            several("--tasks", "NAME", "Default: all."),
            several("--systems", "NAME", "Default: all."),
            count("--episodes", 60, "Episodes of each run.", least=3),
            count("--bases", 10, "Seed bases."),
            count("--first-base", 0, "The first of them.", least=0),
            option("--real", "Real MiniWoB++ pages, in Chromium; else simulated.", is_flag=True),
            option(
                "--recording",
                "Keep what real pages showed in this file, and read there what it holds.",
                type=click.Path(dir_okay=False, path_type=Path),
            ),
            option(
                "--model-url",
                "Ask a model at this OpenAI-compatible address for shortlists.",
            ),
            option("--model", "Its name there.", default="default"),
        ),
    ),
    Study(
        "parts",
        "What learned writing, learned reading, and both reach where a memory is read in part.",
        "A writer is a policy; learned reading orders the stored items by what settlements on "
        "other materials taught. Played on the test split of ReadLimited and, where LoCoMo is "
        "given, on each of its conversations with the reader fitted on the others.",
        "memenvs.train.studies.parts",
        (
            option("--locomo", "LoCoMo as published; without it, it is left out.", metavar="FILE"),
            count("--materials", 300, "Materials of the tier, of training and of test.", least=2),
            option(
                "--model",
                "Learned writer of the tier. Default: one is trained, in some minutes.",
                default="reader-estimator",
                metavar="NAME_OR_MODEL",
            ),
            SEED,
        ),
        alias=False,
    ),
    Study(
        "tuning",
        "Which constants of a write policy do best on validation materials of each tier.",
        "Random search, then one constant at a time from the best, on the first materials of the "
        "validation split; the best of them are then compared on more.",
        "memenvs.train.studies.tuning",
        (
            click.Argument(["tier"], metavar="[TIER ...]", nargs=-1),
            click.Option(
                ["--policy"],
                type=click.Choice(["trust", "weighted-tree"]),
                default="trust",
                show_default=True,
                help="Write policy whose constants are tuned.",
            ),
            count("--trials", 60, "Random constants."),
            count("--rounds", 2, "Rounds over all constants, one at a time.", least=0),
            count("--materials", 128, "Materials of the search."),
            count("--final", 512, "Materials of the last comparison."),
            SEED,
        ),
        alias=False,
    ),
)
