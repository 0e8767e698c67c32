r"""The small texts of options: delimiters with escapes, partition lists, codecs, headers."""

from __future__ import annotations

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.model import TopicPartition

_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LEVELS = {"gzip": (1, 9), "lz4": (1, 16), "zstd": (-131072, 22)}


def unescape(text: str, flag: str) -> bytes:
    r"""`\n \t \r \0 \xNN` as bytes; any other escaped character is itself, as in kcat."""
    out = bytearray()
    place = 0
    while place < len(text):
        here = text[place]
        place += 1
        if here != "\\" or place == len(text):
            out += here.encode("utf-8", "surrogateescape")
            continue
        escaped = text[place]
        place += 1
        if escaped == "x":
            digits = text[place : place + 2]
            while digits and not all(digit in "0123456789abcdefABCDEF" for digit in digits):
                digits = digits[:-1]
            if not digits:
                raise UsageError(rf"{flag} {text}: \x needs one or two hex digits")
            out.append(int(digits, 16))
            place += len(digits)
        else:
            out += _ESCAPES.get(escaped) or escaped.encode("utf-8", "surrogateescape")
    return bytes(out)


def delimiter(text: str | None, flag: str, default: bytes | None = None) -> bytes | None:
    """The bytes of -D or -K. Raises UsageError for an empty one."""
    if text is None:
        return default
    made = unescape(text, flag)
    if not made:
        raise UsageError(f"{flag}: a delimiter needs at least one byte")
    return made


def partitions(text: str | None) -> list[int] | None:
    """`0,3-5` as a list; None when not given."""
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"-p {text}: expected partitions such as 0 or 0,3-5")
        low, high = int(first), int(last) if dash else int(first)
        if high < low or high >= 2**31 or high - low > 100_000:
            raise UsageError(f"-p {text}: {part.strip()} is not a range of partitions")
        found.extend(range(low, high + 1))
    return sorted(set(found))


def codec(text: str) -> tuple[str, int | None]:
    """`zstd` or `zstd:3` as name and level."""
    name, colon, level = text.partition(":")
    if name not in CODECS:
        raise UsageError(f"-z {text}: expected {', '.join(CODECS)}")
    if not colon:
        return name, None
    digits = level[1:] if level.startswith("-") else level
    if not digits.isdecimal() or name in ("none", "snappy"):
        raise UsageError(f"-z {text}: {'the level is a number' if not digits.isdecimal() else name + ' has no levels'}")
    check_level(name, int(level), f"-z {text}")
    return name, int(level)


def check_level(codec: str, level: int, where: str) -> None:
    """Raises UsageError for a level that the codec does not have; none and snappy have none."""
    low, high = LEVELS.get(codec, (level, level))
    if not low <= level <= high:
        raise UsageError(f"{where}: the levels of {codec} are {low} to {high}")


def headers(given: list[str]) -> list[tuple[str, bytes | None]]:
    """`name=value`, `name=` (empty) and `name` (null), in order, repeats kept."""
    made: list[tuple[str, bytes | None]] = []
    for item in given:
        name, equals, value = item.partition("=")
        if not name:
            raise UsageError(f"-H {item}: expected NAME=VALUE")
        made.append((name, argument_bytes(value) if equals else None))
    return made


def argument_bytes(text: str) -> bytes:
    """A word of the command line as the bytes that were typed."""
    return text.encode("utf-8", "surrogateescape")


def records(count: int) -> str:
    """`1 record`, `2 records`."""
    return f"{count} record{'' if count == 1 else 's'}"


def partition_names(partitions: Iterable[TopicPartition]) -> str:
    """`orders[0], orders[3]`."""
    return ", ".join(f"{topic}[{partition}]" for topic, partition in sorted(partitions))
