"""What `groups reset` is told to reset to: exactly one of Kafka's forms, or ours; understood before anything is asked.

A Prepare asks the cluster about some partitions and gives the Form for them (admin/groups/reset.py).
"""

from __future__ import annotations

import time

from kcli.admin.groups import reset_forms
from kcli.cli.commands.groups.options import FORMS
from kcli.errors import UsageError
from kcli.grammar.durations import iso_duration
from kcli.grammar.offsets import duration, parse_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.admin.groups.reset import Form
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster, TopicPartition

    Prepare = Callable[[Cluster, list[TopicPartition]], Awaitable[Form]]

COMMITS = ("from_file", "from_group")
"""Forms that say by themselves which partitions they are about."""


def chosen(values: Values) -> str:
    """The name of the one form that the line has. Raises UsageError where there is none, or more."""
    found = [option for option in FORMS if values[option.name] is not None and values[option.name] is not False]
    if not found:
        names = ", ".join(option.flags[0] for option in FORMS)
        raise UsageError(f"reset to what? one of {names}")
    if len(found) > 1:
        raise UsageError(f"{' and '.join(option.flags[0] for option in found)} exclude each other")
    if found[0].name in COMMITS and values["time_field"] is not None:
        raise UsageError(f"{found[0].flags[0]} has no time for --time-field to look for")
    return found[0].name


def form_of(name: str, values: Values, now: int) -> tuple[Prepare, int | None]:
    """How to reset, and the moment that is meant, if one is (both in ms since the epoch). Raises UsageError."""
    prepare, moment = _form(name, values, now)
    if values["time_field"] is not None:
        if moment is None:
            raise UsageError("--time-field goes with a time: --to-datetime, --by-duration or --to @TIME")
        from kcli.cli.commands.groups.payload_time import prepare_of

        return prepare_of(values, moment), moment
    if values["jitter"] is not None or values["value_format"] is not None:
        raise UsageError("--jitter and --value-format are of payload times; name their field with --time-field")
    return prepare, moment


def _form(name: str, values: Values, now: int) -> tuple[Prepare, int | None]:
    if name == "to":
        return _grammar(values["to"], now)
    if name == "to_datetime":
        return _moment(_datetime(values["to_datetime"], now))
    if name == "by_duration":
        return _moment(now - _length(values["by_duration"]))
    if name == "to_offset":
        return _ready(reset_forms.offset(values["to_offset"])), None
    if name == "shift_by":
        return _ready(reset_forms.shifted(values["shift_by"])), None
    forms = {
        "to_earliest": reset_forms.earliest,
        "to_latest": reset_forms.latest,
        "to_current": reset_forms.current,
    }
    return _ready(forms[name]), None


def _grammar(text: str, now: int) -> tuple[Prepare, int | None]:
    """One place of the offset grammar."""
    try:
        found = parse_range([text], now)
    except UsageError as error:
        raise UsageError(f"--to {str(error).removeprefix('-o ')}") from None
    start = found.start
    if start is None or found.stop is not None:
        raise UsageError(f"--to {text}: a range has two ends; name one place")
    if start.kind == "time":
        return _moment(start.value)
    forms: dict[str, Form] = {
        "earliest": reset_forms.earliest,
        "latest": reset_forms.latest,
        "stored": reset_forms.current,
        "offset": reset_forms.offset(start.value),
        "relative": reset_forms.before_end(start.value),
        "from_start": reset_forms.after_start(start.value),
    }
    return _ready(forms[start.kind]), None


def _datetime(text: str, now: int) -> int:
    """Kafka's --to-datetime: ISO 8601, UTC where it names no zone; a number and -1h are understood too."""
    from datetime import UTC, datetime

    from kcli.grammar.offsets import read_time

    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        found = read_time(text.removeprefix("@"), now)
        if found is None:
            raise UsageError(
                f"--to-datetime {text}: expected ISO 8601 such as 2026-01-31T10:00:00.000 (UTC) or "
                "2026-01-31T10:00:00+02:00"
            ) from None
        return found
    if text.isascii() and text.isdigit():  # 20260131 is a date for Python, and an epoch for everybody else
        found = read_time(text, now)
        return 0 if found is None else found
    return max(0, round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000))


def _length(text: str) -> int:
    """Kafka's --by-duration, in ms: ISO 8601, or ours."""
    found = iso_duration(text)
    if found is None:
        found = duration(text)
    if found is None:
        back = text.lstrip("-")
        if back != text and (iso_duration(back) is not None or duration(back) is not None):
            raise UsageError(f"--by-duration {text}: it counts back from now by itself; say {back}")
        raise UsageError(f"--by-duration {text}: expected a duration such as PT1H30M, P1DT2H or 90m")
    return found


def _moment(moment: int) -> tuple[Prepare, int | None]:
    return lambda cluster, partitions: reset_forms.at_time(cluster, partitions, moment), moment


def _ready(form: Form) -> Prepare:
    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        return form

    return prepare


def now_ms() -> int:
    return int(time.time() * 1000)
