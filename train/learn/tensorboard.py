"""The TensorBoard log of a run: every row of its metrics, and what the algorithm records itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import Logger


class Board:
    """Writes event files; what lies beyond ``steps``, from before an interruption, is withdrawn."""

    def __init__(self, folder: Path, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=steps or None)

    def write(self, steps: int, row: Mapping[str, Any], recorded: Logger) -> None:
        """Write one row, and clear what the algorithm recorded since the last."""
        for name, value in row.items():
            group, _, rest = name.partition("_")
            grouped = group in ("rollout", "validation", "time")
            self._writer.add_scalar(f"{group}/{rest}" if grouped else name, value, steps)
        for name, value in recorded.name_to_value.items():
            if isinstance(value, int | float):
                self._writer.add_scalar(name, float(value), steps)
        recorded.dump(steps)
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
