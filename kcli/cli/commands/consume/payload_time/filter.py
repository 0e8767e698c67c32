"""`--start`, `--end` and `--time-field`: a range of times, of the records' timestamps or of a field in their values.

With a field the range of offsets is searched for first, widened by `--jitter`, and what is read of it is filtered
exactly. Imported only when a command line names one of the options.
"""

from __future__ import annotations

from time import time as now_in_seconds

from kcli.cli.commands.consume.payload_time.search import recognise, refuse_timeless, too_much
from kcli.cli.parsing.groups import DECODED_FORMATS
from kcli.errors import KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.grammar.durations import milliseconds
from kcli.grammar.offsets import TIMES, read_time
from kcli.seeking.seeking import Span, spans
from kcli.serde.filters.within import Within
from kcli.serde.payload_time import TimeField

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.groups import TimeFieldOptions
    from kcli.cli.parsing.record_groups import TimeOptions
    from kcli.grammar.offsets import Range
    from kcli.model import Cluster, TopicPartition

JITTER = 60_000  # ms


def moment(text: str | None, flag: str, now: int) -> int | None:
    """A time in ms. Raises UsageError."""
    if text is None:
        return None
    time = read_time(text.removeprefix("@"), now)
    if time is None:
        raise UsageError(f"{flag} {text}: expected a time: {TIMES}")
    return time


def end_of_log(text: str | None) -> Bound | None:
    """`earliest` and `latest` as the start of a range (kpax's words); None for a time."""
    return Bound(text) if text in ("earliest", "latest") else None


def jitter_of(text: str | None) -> int:
    """`--jitter` in ms. Raises UsageError."""
    return JITTER if text is None else milliseconds(text, "--jitter")


def window(times: TimeOptions, field: TimeFieldOptions | None, range: Range) -> PayloadTime | None:
    """The range of payload times. Without --time-field it is None, and --start and --end become the start and stop of
    `range`, by the records' timestamps. Raises UsageError."""
    now = int(now_in_seconds() * 1000)
    begin = end_of_log(times.start)
    start, end = None if begin is not None else moment(times.start, "--start", now), moment(times.end, "--end", now)
    if start is not None and end is not None and start > end:
        raise UsageError(f"--end {times.end} is before --start {times.start}")
    if field is not None and field.time_field is not None:
        if begin is not None and begin.kind == "latest":
            raise UsageError("--start latest names no time for --time-field")
        if start is None and end is None:
            raise UsageError("--time-field needs a time: add --start TIME or --end TIME")
        return PayloadTime(field_of(field), start, end, jitter_of(field.jitter))
    if field is not None and field.jitter is not None:
        raise UsageError("--jitter is for times in values; add --time-field NAME")
    for given, flag, bound in ((times.start, "--start", range.start), (times.end, "--end", range.stop)):
        if given is not None and bound is not None:
            raise UsageError(f"{flag} and -o both say where to {flag[2:].replace('end', 'stop')}; take one")
    range.start = begin or (range.start if start is None else Bound("time", start))
    range.stop = range.stop if end is None else Bound("time", end)
    if range.backwards:
        raise UsageError("--start and -o: it stops before it starts")
    return None


def refuse_without_field(options: TimeFieldOptions) -> None:
    """Raises UsageError for options of payload times without --time-field."""
    for flag, given in (("--jitter", options.jitter), ("--value-format", options.value_format)):
        if given is not None and options.time_field is None:
            raise UsageError(f"{flag} is for times in values; add --time-field NAME")


def field_of(options: TimeFieldOptions) -> TimeField:
    """The field of --time-field, read as --value-format says. Raises UsageError."""
    if not options.time_field or not all(options.time_field.split(".")):
        raise UsageError("--time-field takes the name of a field, such as ts or event.ts")
    if options.value_format in DECODED_FORMATS:
        raise UsageError(f"--time-field reads values of json, msgpack and url, not of {options.value_format}")
    return TimeField(options.time_field, options.value_format or "auto")


class PayloadTime:
    """A range of payload times on a command line; `within` is the filter for it."""

    def __init__(self, field: TimeField, start: int | None, end: int | None, jitter: int) -> None:
        self.field, self.start, self.end, self.jitter = field, start, end, jitter
        self.within = Within(field, start, end)
        self._back = 0

    async def narrow(
        self, cluster: Cluster, ranges: dict[TopicPartition, tuple[int, int]], *, quiet: bool, verbose: bool
    ) -> dict[TopicPartition, tuple[int, int]]:
        """The part of each range of offsets in which all wanted records are. Raises KcliError where a partition could
        not be searched, or no record has a time."""
        from kcli.cli.output.progress import Progress

        await recognise(cluster, self.field, ranges, quiet=quiet)
        work = sum((high - low).bit_length() for low, high in ranges.values())
        progress = Progress("search", work, unit="steps", hidden=quiet)
        try:
            answers = await spans(
                cluster, self.field, ranges, self.start, self.end, self.jitter,
                lambda done, total: progress.at(work * done // max(total, 1)),
            )  # fmt: skip
        finally:
            progress.close()
        parts: dict[TopicPartition, Span] = {}
        for at, answer in answers.items():
            if isinstance(answer, KcliError):
                raise answer
            parts[at] = answer
        refuse_timeless(
            self.field, {at: part for at, part in parts.items() if ranges[at][0] < ranges[at][1]}, quiet=quiet
        )
        self._back = max((part.back for part in parts.values()), default=0)
        if verbose:
            self._told(
                sum(part.stop - part.start for part in parts.values()), sum(high - low for low, high in ranges.values())
            )
        return {at: (part.start, part.stop) for at, part in parts.items()}

    def _told(self, part: int, whole: int) -> None:
        from kcli.cli.output.messages import complain

        format = self.field.likely if self.field.format == "auto" else self.field.format
        complain(f"values are {format}; {part:,} of {whole:,} offsets are read for {self.field.field}")

    def said(self) -> list[str]:
        """The notes for the end of the run."""
        sentences = [sentence] if (sentence := self.within.said()) is not None else []
        worst = max(self._back, self.within.back[0] if self.within.back is not None else 0)
        if worst > self.jitter:
            sentences.append(too_much(self.field, worst, self.jitter))
        return sentences
