"""What happens beside learning: metrics, validation, the best model, checkpoints, the clock.

Every ``every`` steps the model is evaluated and saved. Then the next interval begins: all random
generators and episodes start anew from the run's seed and the number of steps. Whoever goes on from
a checkpoint does exactly the same there, so a resumed run equals an uninterrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from memenvs.train.learn.batches import Stages, Timed
from memenvs.train.learn.checkpoints import save_checkpoint
from memenvs.train.learn.folder import RunFolder
from memenvs.train.learn.tensorboard import Board
from memenvs.train.learn.validation import Validation, mean
from memenvs.train.learn.wrapping import carried_by

RECORDS = 20  # of the algorithm's own values in each interval, at most
Report = Callable[[int, dict[str, Any]], None]  # is told the steps, and a row where one was made


class Evaluations(BaseCallback):
    """Evaluates and saves at the end of each interval of a training."""

    def __init__(
        self,
        folder: RunFolder,
        validation: Validation,
        timed: Timed,
        *,
        seed: int,
        every: int,
        stages: tuple[Stages, tuple[int, ...]] | None,
        best_by: tuple[str, float],
        save_best: Callable[[Any], None],
        report: Report,
        progress: dict[str, Any],
    ) -> None:
        super().__init__()
        self._folder, self._validation, self._timed = folder, validation, timed
        self._seed, self._every, self._stages = seed, every, stages
        self._best_by = best_by
        self._save_best, self._report = save_best, report
        self.rows: list[dict[str, Any]] = list(progress.get("rows", ()))
        self.best = float(progress.get("best", -np.inf))
        self._before = float(progress.get("seconds", 0.0))  # of earlier processes
        self._board: Board | None = None
        self._ended: dict[str, list[float]] = {}
        self._trained: dict[str, float] = {}  # what the algorithm recorded last
        self._recorded = 0  # steps until then
        self._started = -1  # step at which the interval began; -1: none has begun here

    def _on_training_start(self) -> None:
        self._board = Board(self._folder.path, self.num_timesteps)
        self._begun = self._mark = time.perf_counter()
        self._spent = {"rollout": 0.0, "optimiser": 0.0, "evaluation": 0.0}
        self._at_mark, self._env_before = self.num_timesteps, self._timed.seconds

    def _on_rollout_start(self) -> None:
        self._clock("optimiser")
        self._record()
        steps = self.num_timesteps
        if self._started < 0:
            if steps == 0:
                self._save()
            self._begin_interval()
        elif steps >= self._interval_ends():
            self.end_interval()
            self._begin_interval()

    def _on_step(self) -> bool:
        for i in np.flatnonzero(self.locals["dones"]).tolist():
            info = self.locals["infos"][i]
            values = {name: info[name] for name in self._validation.finals if name in info}
            values["reward"] = info["episode"]["r"]
            for name, value in values.items():
                self._ended.setdefault(name, []).append(float(value))
        return True

    def _on_rollout_end(self) -> None:
        self._clock("rollout")
        self._report(self.num_timesteps, {})

    def _on_training_end(self) -> None:
        self._clock("optimiser")
        self._record()
        self.end_interval()
        assert self._board is not None
        self._board.close()

    def _record(self) -> None:
        """Log what the algorithm recorded: after each update, but at most so often an interval."""
        assert self._board is not None
        due = self.num_timesteps - self._recorded >= self._every / RECORDS
        if due or self.num_timesteps >= self._interval_ends():
            self._trained |= self._board.record(self.num_timesteps, self.model.logger)
            self._recorded = self.num_timesteps

    def end_interval(self) -> None:
        """Evaluate, write down what was measured, and save."""
        if self.rows and self.rows[-1]["steps"] == self.num_timesteps:
            return
        self._mark = time.perf_counter()
        found = self._validation.evaluate(self.model, carried_by(self._timed))
        measure, sign = self._best_by
        if sign * found[measure] > self.best:
            self.best = sign * found[measure]
            self._save_best(self.model)
        self._clock("evaluation")
        row = self._row(found)
        self.rows.append(row)
        self._folder.write_metrics(self.rows)
        assert self._board is not None
        self._board.write(self.num_timesteps, row)
        self._save()
        self._ended, self._trained = {}, {}
        self._at_mark, self._env_before = self.num_timesteps, self._timed.seconds
        self._spent = dict.fromkeys(self._spent, 0.0)
        self._report(self.num_timesteps, row)
        self._mark = time.perf_counter()

    def _interval_ends(self) -> int:
        """Steps after which the interval is over: it lies within one stage."""
        ends = self._stages[1] if self._stages else ()
        return min([self._started + self._every, *(end for end in ends if end > self._started)])

    def _begin_interval(self) -> None:
        """Start all generators and episodes anew, from the seed and the steps alone."""
        steps = self.num_timesteps
        self._started = steps
        if self._stages is not None:
            batch, ends = self._stages
            batch.enter(int(np.searchsorted(ends, steps, side="right")))
        drawn = np.random.SeedSequence([self._seed, steps]).generate_state(1)
        self.model.set_random_seed(int(drawn[0] >> 1))
        model: Any = self.model
        model._last_obs = model.env.reset()
        model._last_episode_starts = np.ones(model.env.num_envs, dtype=bool)

    def _save(self) -> None:
        self._folder.path.mkdir(parents=True, exist_ok=True)
        progress = {"rows": self.rows, "best": self.best, "seconds": self.seconds}
        carried = carried_by(self._timed)
        save_checkpoint(self._folder.checkpoints, self.model, progress, carried)

    @property
    def seconds(self) -> float:
        """Wall-clock time of the training, over all of its processes."""
        return self._before + time.perf_counter() - self._begun

    def _clock(self, what: str) -> None:
        now = time.perf_counter()
        self._spent[what] += now - self._mark
        self._mark = now

    def _row(self, found: dict[str, float]) -> dict[str, Any]:
        env = self._timed.seconds - self._env_before
        spent = {
            "env": env,
            "forward": self._spent["rollout"] - env,
            "optimiser": self._spent["optimiser"],
            "evaluation": self._spent["evaluation"],
        }
        total = max(sum(spent.values()), 1e-9)
        learning = max(total - spent["evaluation"], 1e-9)
        rollout = {name: mean(values) for name, values in self._ended.items()}
        if "illegal_action" in self._validation.finals:
            rollout["illegal_action"] = float(sum(self._ended.get("illegal_action", ())))
        recorded = {name.replace("/", "_"): v for name, v in self._trained.items() if "/" in name}
        return {
            "steps": self.num_timesteps,
            **recorded,
            "seconds": round(self.seconds, 3),
            "steps_per_second": round((self.num_timesteps - self._at_mark) / learning, 1),
            **{f"rollout_{name}": value for name, value in rollout.items()},
            **{f"validation_{name}": value for name, value in found.items()},
            **{f"time_{name}": round(value / total, 4) for name, value in spent.items()},
        }
