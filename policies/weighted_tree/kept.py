"""A tree that can be kept in a file: each change is on the disk before it is made."""

from __future__ import annotations

import os

from memenvs.policies.weighted_tree.journal import Journal, header, write_events
from memenvs.policies.weighted_tree.reader import Reader
from memenvs.policies.weighted_tree.state import Event, State
from memenvs.storage.handles import one_at_a_time


class Kept(Reader):
    """Commits changes to a journal, where there is one, and to a state."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._journal: Journal | None = None

    @one_at_a_time
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a file, whole or not at all; ``open`` gives an equal one.

        A tree that was opened from this file goes on in it, and opens faster the next time. Raises
        ``MaterialError`` where another tree has the file open.
        """
        events = [header(self.configuration, self.constants), self._state.saved()]
        if self._journal is not None and self._journal.holds(path):
            self._journal.rewrite(events)
        else:
            write_events(path, events)

    @one_at_a_time
    def close(self) -> None:
        """Close the file of a tree that was opened from one; it then takes no more changes."""
        if self._journal is not None:
            self._journal.close()

    def _commit(self, event: Event) -> int:
        """Put a change on the disk, then make it; gives the node that it added, else NONE."""
        for name in ("text", "summary"):  # what cannot be made must not be written either
            if not isinstance(event.get(name) or "", str):
                raise ValueError(f"{event[name]!r} is no text")
        if self._journal is not None:
            self._journal.append(event)
        return self._state.apply(event)

    def _compact(self) -> None:
        """Write the file anew, where there is one, so that it holds what the tree holds alone."""
        if self._journal is not None:
            self._journal.rewrite([header(self.configuration, self.constants), self._state.saved()])
