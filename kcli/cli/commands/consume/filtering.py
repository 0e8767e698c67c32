"""The filter options of consume, tail, count, copy and redrive, and the Filter they make.

Imported only when a command line names one of them; a bad expression is refused before anything is connected.
"""

from __future__ import annotations

from kcli.cli.output import text
from kcli.errors import UsageError
from kcli.serde.decoded import values_as
from kcli.serde.filters import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values
    from kcli.serde.within import Within


def filter_of(values: Values, within: Within | None = None) -> Filter:
    """The Filter of a command line; `within` is its range of payload times. Raises UsageError with the column of what
    is wrong."""
    if values["value_format"] and not values["where"] and within is None:
        times = " and --time-field" if "time_field" in values else ""
        raise UsageError(f"--value-format says how --where{times} read{'' if times else 's'} values; give one")
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
        value=values_as(values["value_format"]),
        within=within,
    )


def _header(given: str) -> tuple[str, bytes | None]:
    name, equals, value = given.partition("=")
    return name, text.argument_bytes(value) if equals else None
