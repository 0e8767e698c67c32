"""What `groups reset` resets to: exactly one of Kafka's forms, or ours; read before the cluster is asked anything."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kcli.admin.groups.offset_files import read
from kcli.changes import offset_forms
from kcli.changes.offset_forms import Rewind
from kcli.cli.documents.input_file import read_file
from kcli.cli.parsing.groups import ConnectionOptions, TimeFieldOptions
from kcli.errors import UsageError
from kcli.grammar.durations import milliseconds
from kcli.grammar.offsets import read_time
from kcli.system.files import DOCUMENT

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.admin.groups.offset_files import Saved
    from kcli.changes.offset_forms import Prepare


class FormOptions(TimeFieldOptions):
    """Where committed offsets are reset to: one of these; the time field goes with those that name a time."""

    to: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--to",
            metavar="WHERE",
            help="beginning, end, stored, N, -N (before the end), +N (after the start), @TIME.",
        ),
    ] = None
    to_earliest: Annotated[bool, typer.Option("--to-earliest", help="The log start offset.")] = False
    to_latest: Annotated[bool, typer.Option("--to-latest", help="The log end offset.")] = False
    to_offset: Annotated[int | None, typer.Option("--to-offset", min=0, help="This offset.")] = None
    to_datetime: Annotated[
        str | None,
        typer.Option(
            "--to-datetime",
            metavar="TIME",
            help="The first record at or after it: 2026-01-31T10:00:00.000; UTC without a zone, as in Kafka.",
        ),
    ] = None
    by_duration: Annotated[
        str | None,
        typer.Option("--by-duration", metavar="DURATION", help="To this long before now: PT1H30M, P1DT2H or 90m."),
    ] = None
    rewind: Annotated[
        str | None,
        typer.Option(
            "--rewind",
            metavar="DURATION",
            help="Back by this duration from the last record that was read; nothing unread is skipped.",
        ),
    ] = None
    shift_by: Annotated[
        int | None, typer.Option("--shift-by", help="Shift the committed offset by N (negative: back).")
    ] = None
    to_current: Annotated[
        bool, typer.Option("--to-current", help="The committed offset; the end offset if none is committed.")
    ] = False
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from-file",
            metavar="FILE",
            help="An undo file, an export, or the CSV of kafka-consumer-groups --export; - is stdin.",
        ),
    ] = None
    from_group: Annotated[
        str | None, typer.Option("--from-group", metavar="GROUP", help="The committed offsets of another group.")
    ] = None


FORMS = {name: f"--{name.replace('_', '-')}" for name in FormOptions.names if name not in TimeFieldOptions.names}
"""The spelling of each option that is a form, by its name."""


def check_form(options: FormOptions) -> None:
    """Raises UsageError unless a line has exactly one form."""
    named = options.given()
    forms = [option for name, option in FORMS.items() if name in named]
    if not forms:
        raise UsageError(f"missing target; give one of {', '.join(FORMS.values())}")
    if len(forms) > 1:
        raise UsageError(f"{' and '.join(forms)} cannot be combined")
    if forms[0] in ("--from-file", "--from-group") and options.time_field is not None:
        raise UsageError(f"{forms[0]} and --time-field cannot be combined")


def form_of(options: FormOptions, now: int, connection: ConnectionOptions) -> tuple[Prepare | Rewind, int | None]:
    """How to reset, and the moment that is meant, if one is (both in ms since the epoch). Raises UsageError."""
    prepare, moment = _form(options, now)
    if options.time_field is not None:
        if moment is None:
            raise UsageError("--time-field requires a time: --to-datetime, --by-duration or --to @TIME")
        from kcli.cli.commands.groups.reset.payload_time import prepare_of

        return prepare_of(options, moment, connection), moment
    if options.jitter is not None or options.value_format is not None:
        raise UsageError("--jitter and --value-format are for times in values; add --time-field NAME")
    return prepare, moment


def read_offsets(path: str) -> Saved:
    """The offsets of --from-file; - is stdin. Raises UsageError."""
    try:
        text = read_file(path, DOCUMENT, f"--from-file {path}").decode()
    except UnicodeDecodeError:
        raise UsageError(f"--from-file {path}: this is not UTF-8 text") from None
    return read(text, "stdin" if path == "-" else path)


def _form(options: FormOptions, now: int) -> tuple[Prepare | Rewind, int | None]:
    if options.to is not None:
        return offset_forms.place(options.to, now)
    if options.to_datetime is not None or options.by_duration is not None:
        named = options.to_datetime
        moment = _datetime(named, now) if named is not None else now - _length(options.by_duration or "")
        return offset_forms.by_time(moment), moment
    if options.rewind is not None:
        return Rewind(back=milliseconds(options.rewind, "--rewind")), None
    if options.to_offset is not None:
        form = offset_forms.offset(options.to_offset)
    elif options.shift_by is not None:
        form = offset_forms.shifted(options.shift_by)
    elif options.to_earliest:
        form = offset_forms.earliest
    else:
        form = offset_forms.latest if options.to_latest else offset_forms.current
    return offset_forms.ready(form), None


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
        raise UsageError(f"--by-duration {text}: the duration already counts back from now; write {text.lstrip('-')}")
    return milliseconds(text, "--by-duration")
