"""The filter options of consume, tail, count, copy and redrive, and the Filter they make.

Imported only when a command line names one of them; a bad expression is refused before anything is connected.
"""

from __future__ import annotations

from kcli.cli.output import text
from kcli.cli.parsing.record_groups import PRINTED, FilterOptions, PrintOptions
from kcli.errors import UsageError
from kcli.serde.decoded import values_as
from kcli.serde.filters.filter import Filter
from kcli.value_formats import WHOLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.filters.within import Within


def filter_of(
    options: FilterOptions,
    has_time_field: bool,
    within: Within | None = None,
    *,
    decoded: bool = False,
    decoded_keys: bool = False,
) -> Filter:
    """The Filter of a command line; `within` is its range of payload times, if its command has --time-field. `decoded`:
    values are JSON whatever their format is; `decoded_keys`: keys may be JSON, too. Raises UsageError with the column
    of what is wrong."""
    if options.value_format and not decoded and not options.where and within is None and not _printed(options):
        said = (
            "--where and --time-field read values; add one of them"
            if has_time_field
            else "--where reads values; add --where"
        )
        raise UsageError(f"--value-format sets how {said}")
    if not decoded and options.value_format in WHOLE:
        raise UsageError(f"--value-format {options.value_format} works only in consume, tail and count")
    where = []
    if options.where:
        from kcli.serde.filters.where import Where

        where = [Where(expression) for expression in options.where]
    return Filter(
        grep=options.grep,
        keys=[text.argument_bytes(key) for key in options.only_keys],
        key_grep=options.key_grep,
        headers=[_header(given) for given in options.only_headers],
        where=where,
        value=values_as(None if decoded else options.value_format),
        within=within,
        decoded=decoded or decoded_keys,
    )


def _printed(options: FilterOptions) -> bool:
    return isinstance(options, PrintOptions) and (options.pretty or options.value_format in PRINTED)


def _header(given: str) -> tuple[str, bytes | None]:
    name, equals, value = given.partition("=")
    return name, text.argument_bytes(value) if equals else None
