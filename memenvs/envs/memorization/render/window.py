"""A window on the screen, by pygame."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled, Error
from numpy.typing import NDArray


class Window:
    """Shows frames of one size at a steady rate."""

    def __init__(self, width: int, height: int, title: str) -> None:
        try:
            import pygame
        except ImportError as missing:
            raise DependencyNotInstalled(
                "render_mode='human' needs pygame: pip install 'memenvs[render]'"
            ) from missing
        self._pygame: Any = pygame
        try:
            pygame.display.init()
            self._surface = pygame.display.set_mode((width, height))
        except pygame.error as problem:
            raise Error(
                f"no window can be opened ({problem}); use render_mode='rgb_array' here"
            ) from problem
        pygame.display.set_caption(title)
        self._clock = pygame.time.Clock()

    def show(self, frame: NDArray[np.uint8], fps: int) -> None:
        """Show pixels ``(height, width, 3)``, and wait so that ``fps`` is not exceeded."""
        height, width, _ = frame.shape
        image = self._pygame.image.frombuffer(frame.tobytes(), (width, height), "RGB")
        self._surface.blit(image, (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Close the window."""
        self._pygame.display.quit()
