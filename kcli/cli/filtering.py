"""The filter options of consume, tail, count, copy and redrive, and the Filter they make.

Imported only when a command line names one of them; a bad expression is refused before anything is connected.
"""

from __future__ import annotations

from kcli.cli import text
from kcli.serde.filters import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Values


def filter_of(values: Values) -> Filter:
    """The Filter of a command line. Raises UsageError with the column of what is wrong."""
    where = []
    if values["where"]:
        from kcli.serde.where import Where

        where = [Where(expression) for expression in values["where"]]
    return Filter(
        grep=values["grep"],
        keys=[text.argument_bytes(key) for key in values["only_keys"]],
        key_grep=values["key_grep"],
        headers=[_header(given) for given in values["only_headers"]],
        where=where,
    )


def _header(given: str) -> tuple[str, bytes | None]:
    name, equals, value = given.partition("=")
    return name, text.argument_bytes(value) if equals else None
