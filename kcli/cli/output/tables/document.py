"""The answer of a command: rows by section, and what went wrong beside them."""

from __future__ import annotations

from kcli.cli.output.tables.view import View
from kcli.errors import BrokerError, ConnectError, KcliError, UsageError
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from kcli.cli.output.tables import rows
    from kcli.cli.output.tables.shape import Row, Section, Shape

    T = TypeVar("T", bound=rows.Row)


class Document(Value):
    """The answer of a command: rows by section, and what went wrong beside them."""

    shape: Shape = None  # type: ignore[assignment]  # always given
    rows: dict[str, list[Any]] = field(factory=dict)
    errors: list[dict[str, object]] = field(factory=list)
    exit_codes: set[int] = field(factory=set)  # what each error by itself would end with
    read_only: str = ""  # the profile under which nothing may be changed
    protected: str = ""  # the profile under which nothing may be deleted or altered
    view: View = field(factory=View)
    empty: str = ""  # the sentence for a terminal where no rows are left; "" is that of the shape
    total: int | None = None  # of all rows, where the shape has one; None is unknown
    begun: bool = False  # whether it was confirmed, so that something may have been changed
    unknown: bool = False  # whether a change was sent and its outcome is unknown

    def fail(self, error: KcliError, about: str = "") -> None:
        """Put an error next to the rows."""
        self.exit_codes.add(error.exit_code)
        self.unknown = self.unknown or (self.begun and getattr(error, "sent", False))
        name = error.code.name if isinstance(error, BrokerError) else type(error).__name__
        self.errors.append({"about": about, "error": name, "message": str(error)})

    def breach(self, about: str, sentence: str, **what: object) -> None:
        """Put a failed assertion next to the rows, with what it is about; the command has an exit code of its own."""
        self.errors.append({"about": about, "error": "AssertionFailed", "message": sentence, **what})

    @property
    def exit_code(self) -> int:
        """1 where anything failed. Where certainly no row was done: 2 for a guard that let nothing through, 5 for want
        of a connection or of the right to do it."""
        if not self.errors:
            return 0
        results = [row for section in self.shape.sections for row in self.all(section) if "result" in row]
        nothing = all(row.get("error") for row in results)
        if self.exit_codes == {UsageError.exit_code} and nothing:
            return UsageError.exit_code
        nothing = nothing if results else not any(self.rows.values())
        refused = self.exit_codes == {ConnectError.exit_code} and nothing and not self.unknown
        return ConnectError.exit_code if refused else 1

    def all(self, section: Section) -> list[Row]:
        """The rows of a section."""
        return [row if isinstance(row, dict) else row.as_json() for row in self.rows.get(section.name, [])]

    def section(self, section: Section) -> list[Row]:
        """The rows of a section that are printed, in their order."""
        rows = self.all(section)
        return self.view.rows(rows) if section.name == self.main.name else rows

    @property
    def main(self) -> Section:
        """The rows that row formats print, and that the view sorts."""
        chosen = self.view.section
        return next((section for section in self.shape.sections if section.name == chosen), self.shape.main)

    def tables(self) -> list[tuple[Section, list[Row]]]:
        """The sections that are drawn as tables, with their rows; one without rows is not."""
        sections = [self.main] if self.view.section else [one for one in self.shape.sections if one.table]
        return [(section, rows) for section in sections if (rows := self.section(section))]

    def of(self, kind: type[T]) -> list[T]:
        """The rows of a kind, to fill or to change; none at first."""
        rows: list[T] = self.rows.setdefault(kind.section, [])
        return rows
