"""The answer of a command: rows by section, and what went wrong beside them."""

from __future__ import annotations

from kcli.errors import BrokerError, KcliError
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
    errors: list[dict[str, str]] = field(factory=list)
    exit_codes: set[int] = field(factory=set)  # what each error by itself would end with
    read_only: str = ""  # the profile under which nothing may be changed
    protected: str = ""  # the profile under which nothing may be deleted or altered
    begun: bool = False  # whether it was confirmed, so that something may have been changed

    def fail(self, error: KcliError, about: str = "") -> None:
        """Put an error next to the rows."""
        self.exit_codes.add(error.exit_code)
        name = error.code.name if isinstance(error, BrokerError) else type(error).__name__
        self.errors.append({"about": about, "error": name, "message": str(error)})

    def section(self, section: Section) -> list[Row]:
        """The rows of a section, as they are printed."""
        return [row if isinstance(row, dict) else row.as_json() for row in self.rows.get(section.name, [])]

    def of(self, kind: type[T]) -> list[T]:
        """The rows of a kind, to fill or to change; none at first."""
        rows: list[T] = self.rows.setdefault(kind.section, [])
        return rows
