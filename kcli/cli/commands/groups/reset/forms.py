"""What `groups reset` resets to: exactly one of Kafka's forms, or ours; read before the cluster is asked anything."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kcli.admin.groups import reset_forms
from kcli.admin.groups.reset import Wanted
from kcli.cli.parsing.groups import ConnectionOptions, TimeFieldOptions
from kcli.cli.parsing.option import flag, integer, span, text
from kcli.errors import UsageError
from kcli.grammar.durations import milliseconds
from kcli.grammar.offsets import parse_range, read_time
from kcli.seeking.last_records import found_at

if TYPE_CHECKING:
    from kcli.admin.groups.reset import Form, Standing
    from kcli.cli.commands.groups.plans import Prepare
    from kcli.errors import KcliError
    from kcli.grammar.bound import Bound
    from kcli.model import Cluster, TopicPartition


class FormOptions(TimeFieldOptions):
    """Where committed offsets are reset to: one of these; the time field goes with those that name a time."""

    to = text(
        *("-o", "--to"),
        metavar="WHERE",
        help="beginning, end, stored, N, -N (before the end), +N (after the start), @TIME.",
    )
    to_earliest = flag("--to-earliest", help="The log start offset.")
    to_latest = flag("--to-latest", help="The log end offset.")
    to_offset = integer("--to-offset", least=0, help="This offset.")
    to_datetime = text(
        "--to-datetime",
        metavar="TIME",
        help="The first record at or after it: 2026-01-31T10:00:00.000; UTC where no zone is named, as in Kafka.",
    )
    by_duration = span("--by-duration", help="Rewind by this duration: PT1H30M, P1DT2H or 90m.")
    shift_by = integer("--shift-by", help="Shift the committed offset by N (negative: back).")
    to_current = flag("--to-current", help="The committed offset; the end offset where none is committed.")
    from_file = text(
        "--from-file",
        metavar="FILE",
        help="An undo file, an export, or the CSV of kafka-consumer-groups --export; - is stdin.",
    )
    from_group = text("--from-group", metavar="GROUP", help="The committed offsets of another group.")


def check_form(options: FormOptions) -> None:
    """Raises UsageError unless a line has exactly one form."""
    given = {
        "--to": options.to is not None,
        "--to-earliest": options.to_earliest,
        "--to-latest": options.to_latest,
        "--to-offset": options.to_offset is not None,
        "--to-datetime": options.to_datetime is not None,
        "--by-duration": options.by_duration is not None,
        "--shift-by": options.shift_by is not None,
        "--to-current": options.to_current,
        "--from-file": options.from_file is not None,
        "--from-group": options.from_group is not None,
    }
    forms = [name for name in given if given[name]]
    if not forms:
        raise UsageError(f"missing target: one of {', '.join(given)}")
    if len(forms) > 1:
        raise UsageError(f"{' and '.join(forms)} exclude each other")
    if forms[0] in ("--from-file", "--from-group") and options.time_field is not None:
        raise UsageError(f"{forms[0]} names no time for --time-field")


def form_of(options: FormOptions, now: int, connection: ConnectionOptions) -> tuple[Prepare, int | None]:
    """How to reset, and the moment that is meant, if one is (both in ms since the epoch). Raises UsageError."""
    prepare, moment = _form(options, now)
    if options.time_field is not None:
        if moment is None:
            raise UsageError("--time-field goes with a time: --to-datetime, --by-duration or --to @TIME")
        from kcli.cli.commands.groups.reset.payload_time import prepare_of

        return prepare_of(options, moment, connection), moment
    if options.jitter is not None or options.value_format is not None:
        raise UsageError("--jitter and --value-format are for times in values; add --time-field NAME")
    return prepare, moment


def _form(options: FormOptions, now: int) -> tuple[Prepare, int | None]:
    if options.to is not None:
        return place(options.to, now)
    if options.to_datetime is not None:
        return _moment(_datetime(options.to_datetime, now))
    if options.by_duration is not None:
        return _moment(now - _length(options.by_duration))
    if options.to_offset is not None:
        return _ready(reset_forms.offset(options.to_offset)), None
    if options.shift_by is not None:
        return _ready(reset_forms.shifted(options.shift_by)), None
    if options.to_earliest:
        return _ready(reset_forms.earliest), None
    return _ready(reset_forms.latest if options.to_latest else reset_forms.current), None


def place(text: str, now: int) -> tuple[Prepare, int | None]:
    """The form of one place of the offset grammar, and the moment that is meant, if one is. Raises UsageError."""
    try:
        range = parse_range([text], now)
    except UsageError as error:
        raise UsageError(f"--to {error.args[0].removeprefix('offset ')}") from None
    if range.starts:
        return _by_partition({number: form_at(bound) for number, bound in range.starts.items()}), None
    start = range.start
    if start is None or range.stop is not None:
        raise UsageError(f"--to {text}: a range has two ends; name one place")
    return form_at(start), start.value if start.kind == "time" else None


def form_at(place: Bound) -> Prepare:
    """How to reset to one place of the log."""
    if place.kind == "time":
        return _moment(place.value)[0]
    if place.kind == "relative":
        return lambda cluster, partitions: _last(cluster, partitions, place)
    forms: dict[str, Form] = {
        "earliest": reset_forms.earliest,
        "latest": reset_forms.latest,
        "stored": reset_forms.current,
        "offset": reset_forms.offset(place.value),
        "from_start": reset_forms.after_start(place.value),
    }
    return _ready(forms[place.kind])


async def _last(cluster: Cluster, partitions: list[TopicPartition], place: Bound) -> Form:
    """The first of the last N records."""
    return reset_forms.each_at(await found_at(cluster, partitions, place))


def _by_partition(places: dict[int, Prepare]) -> Prepare:
    """`0=5,1=end`: a place for each partition; the others stay as they are."""

    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        missing = places.keys() - {at.partition for at in partitions}
        if missing:
            raise UsageError(f"--to {min(missing)}=…: there is no partition {min(missing)} among those to reset")
        forms: dict[int, Form] = {}
        for number, place in places.items():
            forms[number] = await place(cluster, [at for at in partitions if at.partition == number])

        def form(at: TopicPartition, standing: Standing) -> Wanted | KcliError:
            if at.partition not in forms:
                return Wanted(keep=True, note="--to names no place for it")
            return forms[at.partition](at, standing)

        return form

    return prepare


def _datetime(text: str, now: int) -> int:
    """Kafka's --to-datetime: ISO 8601, UTC where it names no zone; a number, -1h and today are understood too."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        read = read_time(text.removeprefix("@"), now)
        if read is None:
            raise UsageError(
                f"--to-datetime {text}: expected ISO 8601 such as 2026-01-31T10:00:00.000 (UTC) or "
                "2026-01-31T10:00:00+02:00"
            ) from None
        return read
    if text.isascii() and text.isdigit():  # 20260131 is a date for Python, and an epoch everywhere else
        return read_time(text, now) or 0
    return max(0, round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000))


def _length(text: str) -> int:
    """Kafka's --by-duration, in ms: ISO 8601, or ours."""
    if text.startswith("-"):
        raise UsageError(f"--by-duration {text}: durations count back from now; write {text.lstrip('-')}")
    return milliseconds(text, "--by-duration")


def _moment(moment: int) -> tuple[Prepare, int | None]:
    return lambda cluster, partitions: reset_forms.at_time(cluster, partitions, moment), moment


def _ready(form: Form) -> Prepare:
    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        return form

    return prepare


def now_ms() -> int:
    return int(time.time() * 1000)
