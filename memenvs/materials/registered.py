"""A material file that a name stands for in every process, as it was when it was registered."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from memenvs.errors import MaterialError


@dataclass(frozen=True)
class RegisteredFile:
    """A file that is read only while it is what was registered: an id must not change meaning."""

    name: str
    path: str
    digest: str  # SHA-256 of its bytes

    def checked(self) -> Path:
        """Give the file; raises ``MaterialError`` where it is gone or has changed."""
        try:
            found = digest_of(self.path)
        except OSError as error:
            raise MaterialError(
                f"is registered as '{self.name}' and cannot be read ({error.strerror}); put it "
                f"back, or run: memenvs unregister {self.name}",
                file=self.path,
            ) from None
        if found != self.digest:
            raise MaterialError(
                f"has changed since it was registered as '{self.name}'; to take it as it is now, "
                f"run: memenvs unregister {self.name}, and register it again",
                file=self.path,
            )
        return Path(self.path)


def digest_of(path: str) -> str:
    """Digest the bytes of a file; raises ``OSError``."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
