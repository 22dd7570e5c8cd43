"""`memenvs play`, driven as a person would drive it."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import memenvs
from memenvs.materials.odyssey import odyssey_noisy
from memenvs.train.cli import main
from own_envs import register_own


def play(*arguments, typed=""):
    return CliRunner().invoke(main, ["play", *arguments], input=typed)


def test_an_episode_to_its_end():
    # e1, e3 and e4 are the optimum of three slots; the false f1 then takes the place of e4.
    typed = "1\n0\n2\n3\n0\n0\n3\n"
    result = play("--material", "odyssey-noisy", "--capacity", "3", typed=typed)
    assert result.exit_code == 0, result.output
    end = result.stdout[result.stdout.index("the end after 7 of 7 decisions") :]
    lines = [" ".join(line.split()) for line in end.splitlines()]
    assert lines[1] == "memory 3 of 3"
    assert lines[2].startswith("true e1 It took Odysseus")
    assert lines[4].startswith("FALSE f1 Odysseus, a prince of Troy")
    assert lines[-4:] == [
        "coverage 0.8000",
        "precision 0.6000",
        "frontier 0.8000 at this size, 0.8000 at capacity",
        "efficiency loss 0.2000",
    ]


def test_the_loss_is_against_the_frontier_at_the_memorys_own_size():
    end = play("--material", "odyssey", "--capacity", "3", typed="1\nq\n").stdout
    assert "stopped after 1 of 6 decisions" in end
    assert "frontier         0.3500 at this size, 0.8000 at capacity" in end
    assert "efficiency loss  0.1000" in end


def test_legal_actions_are_listed_in_words_and_others_are_refused():
    result = play("memenvs/OdysseyNoisy-v0", typed="1\nfour\n99\n4\n1\n5\nq\n")
    assert result.exit_code == 0
    first, *_ = result.stdout.split("(? for the optimum")
    assert "   0   stop" in first
    assert "  10   consider f1 Odysseus, a prince of Troy" in first
    assert "     0.20  How many years did Odysseus need" in first
    assert "1 is not legal here" in result.stdout
    assert "'four' is no number" in result.stdout
    assert "99 is not legal here" in result.stdout
    assert "   1   write into slot 0, which is free" in result.stdout
    assert "   2   write into slot 1, which is free" in result.stdout


def test_a_full_memory_says_what_would_be_given_up():
    output = play("--material", "odyssey", "--capacity", "1", typed="1\nq\n").stdout
    assert "   1   write into slot 0, over e1 It took Odysseus ten years" in output


def test_nothing_hidden_shows_until_one_asks():
    hidden = play("--material", "odyssey-noisy", "--capacity", "3", typed="1\n0\n0\n")
    shown, _ = hidden.stdout.split("stopped after")
    assert not any(word in shown for word in ("true", "FALSE", "precision", "best"))
    asked = play("--material", "odyssey-noisy", "--capacity", "3", typed="1\n?\n").stdout
    assert "would take 0: pass" in asked  # e2 is not part of the optimum
    assert "best precision 0.8000, by e1 e3 e4" in asked
    assert "coverage 0.25 (best 0.90) | precision 0.25 (best 0.80)" in asked


def test_the_hints_lead_to_the_optimum():
    typed, shown = "", ""
    for _ in range(14):
        shown = play("memenvs/OdysseyNoisy-v0", typed=typed + "?\n").stdout
        if "the end" in shown:
            break
        typed += shown.rsplit("would take ", 1)[1].split(":", 1)[0] + "\n"
    assert "efficiency loss  0.0000" in shown
    assert "frontier         0.8000 at this size" in shown


def test_priorities_are_typed_as_numbers():
    memenvs.register_material("play-priority", odyssey_noisy, action="priority", capacity=2)
    typed = "0.1\n2\nnan\n?\n0.5\n-1\n-1\n-1\n-1\n-1\n"
    result = play("memenvs/play-priority-v0", typed=typed)
    assert result.exit_code == 0, result.output
    assert "2 is no number from -1 to 1" in result.stdout
    assert "nan is no number from -1 to 1" in result.stdout
    assert "would take priority" in result.stdout
    assert "the end after 7 of 7" in result.stdout
    assert "precision        0.5500" in result.stdout


def test_a_file_is_played_with_seeds(tmp_path):
    path = tmp_path / "noisy.json"
    odyssey_noisy().save(path)
    runs = [play("--material", str(path), "--seed", seed, typed="1\n" * 9).stdout for seed in "112"]
    assert runs[0] == runs[1] != runs[2]


def test_the_end_of_the_input_ends_quietly():
    run = subprocess.run(
        [sys.executable, "-c", "from memenvs.train.cli import main; main()", "play",
         "memenvs/Odyssey-v0"],
        input="4\n1\n",
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert "stopped after 2 of 14" not in run.stdout
    assert "stopped after 2 of 12" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "an ID or --material NAME_OR_FILE"),
        (["memenvs/Odyssey-v0", "--material", "odyssey"], "not both"),
        (["memenvs/Nowhere-v0"], "memenvs/Nowhere-v0"),
        (["--material", "iliad"], "'iliad' is neither a registered material"),
        (["memenvs/Odyssey-v0", "--capacity", "0"], "--capacity"),
        (["memenvs/Odyssey-v0", "--seed", "-1"], "--seed"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, problem):
    result = play(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert problem in result.stderr


def test_a_poisoned_history_is_played_by_numbers():
    result = play("memenvs/Poisoning-v0", typed="99\nx\n" + "0\n" * 60)
    assert result.exit_code == 0, result.output
    first, *_ = result.stdout.split("(q to quit)")
    assert "   0   stop" in first
    assert "99 is not legal here" in result.stdout
    assert "'x' is no number" in result.stdout
    end = result.stdout[result.stdout.index("the end after ") :]
    # No context is ever filled: nothing is answered, rightly or wrongly.
    assert "earned 0\n" in end
    assert "accuracy 0\n" in end
    assert "prompt_tokens 0\n" in end


def test_a_page_is_played_by_its_elements():
    result = play("memenvs/Panels-button-v0", typed="?\nq\n")
    assert result.exit_code == 0, result.output
    assert "   0   click " in result.stdout
    assert "  32   hover " in result.stdout
    assert "there is no optimal policy to ask" in result.stdout
    assert "stopped after 0 actions" in result.stdout
    assert play("memenvs/Panels-button-v0", "--capacity", "3").exit_code == 2


def test_an_own_environment_is_played():
    walk = play(register_own("MaskInInfo"), typed="2\n" + "1\n" * 4 + "0\n0\n")
    assert "2 is not legal here" in walk.stdout  # there is a wall
    assert "the end after 6 actions\nearned 3" in walk.stdout
    strides = play(register_own("Continuous"), typed="2\n0.9 1\n" + "0.9\n" * 6)
    assert "2 is not between [-1.] and [1.]" in strides.stdout
    assert "type 1 numbers" in strides.stdout
    assert "earned 3" in strides.stdout
