"""The errors that bad input raises: one sentence that names the file, the record and the field."""

from __future__ import annotations

from memenvs.storage.messages import LONGEST, PART, clipped, visible


class MaterialError(ValueError):
    """A material that cannot be used, and where in it the fault lies."""

    def __init__(self, problem: str, *, record: str = "", field: str = "", file: str = "") -> None:
        super().__init__(problem, record, field, file)
        self.problem = problem
        self.record = record
        self.field = field
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from keywords: the default would pass all four as positional arguments."""
        return (_rebuild, (self.problem, self.record, self.field, self.file))

    def __str__(self) -> str:
        field = f"field '{clipped(self.field)}'" if self.field else ""
        where = ", ".join(part for part in (clipped(self.record, 2 * PART), field) if part)
        parts = (self.file, where, clipped(self.problem, LONGEST))
        return visible(": ".join(part for part in parts if part))

    def within(self, file: str, record: str = "") -> MaterialError:
        """Return the same fault, located in ``file`` (and, in a file of many, in ``record``)."""
        where = ", ".join(part for part in (record, self.record) if part)
        return MaterialError(self.problem, record=where, field=self.field, file=file)


def _rebuild(problem: str, record: str, field: str, file: str) -> MaterialError:
    return MaterialError(problem, record=record, field=field, file=file)
