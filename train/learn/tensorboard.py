"""The TensorBoard log of a run: every row of its metrics, and what the algorithm records."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import Logger


class Board:
    """Writes event files; what lies beyond ``steps``, from before an interruption, is withdrawn."""

    def __init__(self, folder: Path, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=steps or None)
        self._recorded: set[str] = set()  # columns of rows that the algorithm recorded itself

    def write(self, steps: int, row: Mapping[str, Any]) -> None:
        """Write one row of metrics, but for what was recorded."""
        for name, value in row.items():
            if name in self._recorded:
                continue
            group, _, rest = name.partition("_")
            grouped = group in ("rollout", "validation", "time")
            self._writer.add_scalar(f"{group}/{rest}" if grouped else name, value, steps)
        self._writer.flush()

    def record(self, steps: int, recorded: Logger) -> dict[str, float]:
        """Write what the algorithm recorded since the last time, and give it by name."""
        # Some of it is of NumPy's types, float32 among them; figures and texts are left out.
        found: dict[str, Any] = recorded.name_to_value
        values = {name: float(value) for name, value in found.items() if isinstance(value, Real)}
        for name, value in values.items():
            self._writer.add_scalar(name, value, steps)
            self._recorded.add(name.replace("/", "_"))
        recorded.dump(steps)
        return values

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
