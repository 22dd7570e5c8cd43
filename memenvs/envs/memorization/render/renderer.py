"""What ``MemorizationEnv.render`` gives in each render mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.episode import Episode
from memenvs.envs.memorization.render.scene import spectator_scene

if TYPE_CHECKING:
    from memenvs.envs.memorization.render.window import Window

RenderMode = Literal["ansi", "rgb_array", "human"]
MODES: tuple[RenderMode, ...] = ("ansi", "rgb_array", "human")
FPS = 4  # decisions are to be read


class Renderer:
    """Renders episodes as text, as pixels, or in a window.

    Text and picture show what no agent may see: truth, and the utility in expectation.
    """

    def __init__(self, mode: RenderMode | None) -> None:
        self.mode = mode
        self._window: Window | None = None

    def render(self, episode: Episode) -> str | NDArray[np.uint8] | None:
        """Give text, or pixels ``(640, 1024, 3)``, or None once the window shows them."""
        scene = spectator_scene(episode)
        if self.mode == "ansi":
            from memenvs.envs.memorization.render.ansi import as_text

            return as_text(scene)
        from memenvs.envs.memorization.render.picture import as_picture

        frame = as_picture(scene)
        if self.mode == "rgb_array":
            return frame
        if self._window is None:
            from memenvs.envs.memorization.render.window import Window

            height, width, _ = frame.shape
            self._window = Window(width, height, f"memenvs: {scene.material.name}")
        self._window.show(frame, FPS)
        return None

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the window behind: another process opens its own."""
        return {"mode": self.mode, "_window": None}
