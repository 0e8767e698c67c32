"""The grammar of offsets, shared by all commands: where to start and stop, as words, offsets and times.

    beginning|earliest|start  end|latest  stored  N  -N  +N  N:M  :end  @t1  @t1:  @t1:t2  s@ms  e@ms  P=start,P=start

Times are epoch seconds or milliseconds, ISO 8601, durations (-1h30m), now, today, yesterday (midnight), 07:30 (today)
and `yesterday 22:00`. Times without a zone are local, or UTC with --utc. A stop is exclusive.
"""

from __future__ import annotations

from kcli.errors import OPTION, UsageError
from kcli.grammar.bound import Bound
from kcli.grammar.zone import zone

_WORDS = {
    "beginning": "earliest",
    "earliest": "earliest",
    "start": "earliest",
    "end": "latest",
    "latest": "latest",
    "stored": "stored",
}
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
TIMES = "ISO 8601, epoch s or ms, -1h, now, today, yesterday or 07:30"
"""The forms of a time, for error messages."""
_LARGEST = 2**63 - 1


class Range:
    """Where to start and stop; None means the command's default. `starts` has the starts of single partitions by
    number.

    With `places`, times are converted to the offsets of the first records at those times, as in kcat's s@ and e@;
    otherwise they select records by timestamp.
    """

    __slots__ = ("places", "start", "starts", "stop")

    def __init__(
        self,
        start: Bound | None = None,
        stop: Bound | None = None,
        starts: dict[int, Bound] | None = None,
        *,
        places: bool = False,
    ) -> None:
        self.places = places
        self.start = start
        self.stop = stop
        self.starts = starts or {}

    def start_of(self, partition: int) -> Bound | None:
        """Return where a partition starts."""
        return self.starts.get(partition, self.start)

    def times_of(self, partition: int) -> tuple[int, int] | None:
        """Return the timestamps [start, stop), in ms, that select a partition's records; None if offsets select
        them."""
        start, stop = self.start_of(partition), self.stop
        low = start.value if start is not None and start.kind == "time" else None
        high = stop.value if stop is not None and stop.kind == "time" else None
        if self.places or (low is None and high is None):
            return None
        return -(2**63) if low is None else low, 2**63 - 1 if high is None else high

    @property
    def until_time(self) -> bool:
        """Whether reading stops at a time."""
        return self.stop is not None and self.stop.kind == "time"

    @property
    def timed(self) -> bool:
        """Whether timestamps select the records of any partition."""
        return any(self.times_of(partition) is not None for partition in (-1, *self.starts))

    @property
    def stored(self) -> bool:
        """Whether reading starts at a group's committed offsets."""
        return any(start is not None and start.kind == "stored" for start in (self.start, *self.starts.values()))

    @property
    def backwards(self) -> bool:
        """Whether the range is empty for every possible log: `5:2`, `@now:-1h`, `-1:-2`."""
        start, stop = self.start, self.stop
        if start is None or stop is None or start.kind != stop.kind:
            return False
        return start.value < stop.value if start.kind == "relative" else start.value > stop.value


def parse_range(texts: list[str], now: int) -> Range:
    """Parse all ranges of a command line together (kcat's s@ and e@ come as two). `now` is in ms since the epoch."""
    span = Range()
    for text in texts:
        given = _parse(text.strip(), now)
        if (given.start and span.start) or (given.stop and span.stop):
            raise _bad(text, "the start and the stop can be given only once")
        twice = given.starts.keys() & span.starts.keys()
        if twice:
            raise _bad(text, f"the start of partition {min(twice)} is given twice")
        span = Range(
            given.start or span.start,
            given.stop or span.stop,
            {**span.starts, **given.starts},
            places=given.places or span.places,
        )
        if span.backwards:
            raise _bad(text, "the stop is before the start")
    return span


def one_place(text: str, now: int, option: str = "") -> Bound:
    """Parse one position in a log: 4711, -1000 (before the end), +10 (after the start), @TIME, -1d, end. `option`
    begins the error message. Raises UsageError."""
    try:
        range = parse_range([place_of(text, now)], now)
    except UsageError:  # whose message is about ranges
        range = Range()
    if range.start is None or range.stop is not None or range.start.kind == "stored":
        raise UsageError(f"{option}{text}: expected a single position, such as 4711, -1000, @-7d or end")
    return range.start


def place_of(text: str, now: int) -> str:
    """Return a position in the syntax of ranges: `-1d` becomes `@-1d`, because a record count has no unit."""
    ago = text[:1] == "-" and not text[1:].isdigit() and read_time(text, now) is not None
    return f"@{text}" if ago else text


def _parse(text: str, now: int) -> Range:
    if text[:1].isdigit() and "=" in text:
        return Range(starts=_starts(text, now))
    if text.startswith(("s@", "e@")):
        bound = Bound("time", _time(text[2:], now, text, kcat=True))
        return Range(start=bound, places=True) if text[0] == "s" else Range(stop=bound, places=True)
    if text.startswith("@"):
        return _times(text, now)
    like_a_day = text.startswith(("today", "yesterday")) or (text[:1] == "0" and text[1:2].isdigit())  # not 0:50
    if like_a_day and _of_day(text, now) is not None:
        raise _bad(text, f"a time is written with an @: '@{text}'")
    left, _, right = text.partition(":")
    if right.startswith("@"):
        return Range(_point(left, text) if left else None, Bound("time", _time(right[1:], now, text)))
    start = _point(left, text) if left else None
    stop = _point(right, text) if right else None
    if stop is not None and stop.kind == "stored":
        raise _bad(text, "the stored position cannot be the stop")
    if start is None and stop is None:
        raise _wrong(text)
    return Range(start, stop)


def _starts(text: str, now: int) -> dict[int, Bound]:
    """Parse `0=5,1=end,2=@-1h`: the starts of partitions."""
    starts: dict[int, Bound] = {}
    for part in text.split(","):
        number, _, place = part.partition("=")
        if not (number.isascii() and number.isdigit()) or len(number) > 9 or not place:
            raise _bad(text, f"{part!r} is not a partition with its start; expected 0=5,1=end,2=@-1h")
        given = _parse(place, now)
        if given.start is None or given.stop is not None:
            raise _bad(text, f"{part!r}: a partition can only have a start; give one stop for all with :M")
        if int(number) in starts:
            raise _bad(text, f"the start of partition {int(number)} is given twice")
        starts[int(number)] = given.start
    return starts


def _point(word: str, text: str) -> Bound:
    """Parse one side of a range that is not a time."""
    if word in _WORDS:
        return Bound(_WORDS[word], 0)
    digits = word[1:] if word[:1] in ("-", "+") else word
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 19 or int(digits) > _LARGEST:
        raise _wrong(text)
    return Bound({"-": "relative", "+": "from_start"}.get(word[0], "offset"), int(digits))


def _times(text: str, now: int) -> Range:
    """Parse `@t1`, `@t1:`, `@t1:t2`, `@t1:end`. Times may contain colons, so the longest left side that parses
    is used."""
    body = text[1:]
    whole = read_time(body, now)
    if whole is not None:
        return Range(start=Bound("time", whole))
    parts = body.split(":")
    if len(parts) in (2, 3) and all(part.isascii() and part.isdigit() and len(part) <= 2 for part in parts):
        raise _bad(text, "invalid time: hours are 0 to 23, minutes and seconds 00 to 59")
    for place in range(len(body) - 1, -1, -1):
        if body[place] != ":":
            continue
        left, right = body[:place], body[place + 1 :].removeprefix("@")
        first = read_time(left, now) if left else None
        if left and first is None:
            continue
        start = Bound("time", first) if first is not None else None
        if not right and start is not None:
            return Range(start)
        if right in ("end", "latest"):
            return Range(start, Bound("latest", 0))
        if _clock(left.split(" ")[-1]) is not None and right.isdigit() and len(right) < 3:
            continue  # in 07:30:08:00 the second time is 08:00, not second 8 of 1970
        last = read_time(right, now)
        if last is not None:
            return Range(start, Bound("time", last))
    raise _wrong(text)


def _time(word: str, now: int, text: str, *, kcat: bool = False) -> int:
    if kcat and word.isascii() and word.isdigit() and len(word) < 19:
        return int(word)  # kcat's are always milliseconds
    time = read_time(word, now)
    if time is None:
        raise _wrong(text)
    return time


def read_time(word: str, now: int) -> int | None:
    """Return milliseconds since the epoch, or None if the text is not a time. Up to 10 digits are seconds, more
    are ms."""
    if word == "now":
        return now
    if (day := _of_day(word, now)) is not None:
        return day
    if word.isascii() and word.isdigit():
        return None if len(word) > 16 else int(word) * (1000 if len(word) <= 10 else 1)
    if word.startswith("now"):
        word = word[3:]
    if word[:1] in ("-", "+"):
        length = duration(word[1:])
        return None if length is None else max(0, now + (length if word[0] == "+" else -length))
    return _iso(word)


def _of_day(word: str, now: int) -> int | None:
    """Parse `today`, `yesterday`, `07:30`, `yesterday 22:00` as local time, midnight by default. Days are calendar
    days, however many hours they have."""
    day, _, time = word.partition(" ")
    if day not in ("today", "yesterday"):
        day, time = "today", word
    clock = _clock(time) if time else (0, 0, 0)
    if clock is None or not word:
        return None
    from datetime import UTC, datetime, timedelta
    from datetime import time as time_of

    typed_in = UTC if zone.typed_utc else None  # None: local
    try:
        date = datetime.fromtimestamp(now / 1000, typed_in).date() - timedelta(days=day == "yesterday")
        moment = datetime.combine(date, time_of(clock[0], clock[1], clock[2]), typed_in)
        return max(0, round(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return None


def _clock(word: str) -> tuple[int, int, int] | None:
    """Return `07:30` or `7:30:15` as hours, minutes and seconds."""
    parts = word.split(":")
    if len(parts) not in (2, 3) or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    if not 1 <= len(parts[0]) <= 2 or any(len(part) != 2 for part in parts[1:]):
        return None
    clock = int(parts[0]), int(parts[1]), int(parts[2]) if parts[2:] else 0
    return clock if clock[0] < 24 and max(clock[1:]) < 60 else None


def duration(word: str) -> int | None:
    """Return `1h30m`, `500ms`, `0.5s`, `7d` in ms; None if the text is not a duration."""
    total, place = 0, 0
    while place < len(word):
        start = place
        while place < len(word) and word[place].isascii() and (word[place].isdigit() or word[place] == "."):
            place += 1
        unit = place
        while place < len(word) and word[place].isalpha():
            place += 1
        if unit == start or unit - start > 12 or word[unit:place] not in _UNITS:
            return None
        number = word[start:unit]
        if number.count(".") > 1 or number[0] == "." or number[-1] == ".":
            return None
        total += round(float(number) * _UNITS[word[unit:place]])
    return total if word else None


def _iso(word: str) -> int | None:
    if not word[:1].isdigit():
        return None
    from datetime import UTC, datetime

    try:
        when = datetime.fromisoformat(word)
        if when.tzinfo is None and zone.typed_utc:
            when = when.replace(tzinfo=UTC)
        return max(0, round(when.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return None


def _wrong(text: str) -> UsageError:
    forms = "beginning, end, stored, N, -N, +N, N:M, :end, @TIME, @TIME:TIME, s@MS, e@MS or 0=5,1=end"
    return _bad(text, f"expected {forms}; a TIME is {TIMES}")


def _bad(text: str, why: str) -> UsageError:
    return UsageError(f"offset {text}: {why}").hinted(OPTION)
