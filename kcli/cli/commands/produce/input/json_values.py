"""`produce --input json-values`: a text of JSON values, on any lines, or one array of them; a value is a record.

A value is kept as it is written; one that is spread over several lines is put on one.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from json import JSONDecodeError, JSONDecoder

from kcli.cli.output.records.envelope import BadLine
from kcli.errors import KcliError
from kcli.serde.formats import no_constant
from kcli.serde.json_text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from kcli.cli.commands.produce.input.source import Source
    from kcli.cli.commands.produce.rows import Rows
    from kcli.cli.output.records.envelope import Row

_SPACE = " \t\r\n"


async def rows_of(source: Source, make: Rows, limit: int) -> AsyncIterator[list[Row]]:
    """The records of an input, as many as a piece of it completes. Raises KcliError for what is no JSON, once the
    records before it were given out."""
    values = JsonValues(limit)
    rows: list[Row] = []
    try:
        async for chunk in source.chunks():
            rows.extend(make.row(None, value) for value in values.feed(chunk))
            yield rows
            rows = []
        rows.extend(make.row(None, value) for value in values.feed(b"", last=True))
        yield rows
    except (BadLine, ValueError) as problem:
        yield rows
        raise KcliError(f"{source.name}: {problem}; no record after it was sent") from None


_OF_NUMBERS = "0123456789.eE+-"


class JsonValues:
    """Cuts a text into its values. `limit` is how long one may be, in characters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._text = ""
        self._decode = getincrementaldecoder("utf-8-sig")()
        self._scan = JSONDecoder(parse_constant=no_constant).raw_decode
        self._line = 1
        self._array: bool | None = None  # not known before the first character
        self._comma = False  # the next value of the array needs one before it
        self._over = False  # the array has ended

    def feed(self, data: bytes, *, last: bool = False) -> Iterator[bytes]:
        """The values that are complete with this piece. Raises BadLine."""
        try:
            self._text += self._decode.decode(data, last)
        except UnicodeDecodeError:
            raise BadLine(self._line, "is not UTF-8") from None
        place = 0
        while True:
            place = self._skipped(place)
            if self._array and not self._over and self._text[place : place + 1] == "]":
                self._over = True
                place = self._skipped(place + 1)
            if place == len(self._text):
                break
            if self._over:
                raise BadLine(self._line, "unexpected data after the end of the array")
            end = self._end(place, last)
            if end < 0:
                break
            text = self._text[place:end]
            self._line += text.count("\n")
            self._comma = True
            place = end
            yield (one_line(text) if "\n" in text or "\r" in text else text).encode()
        self._text = self._text[place:]
        if last and self._array and not self._over:
            raise BadLine(self._line, "the array is not closed")

    def _skipped(self, place: int) -> int:
        """Past space, the begin of an array and its commas."""
        text = self._text
        while place < len(text):
            here = text[place]
            if here == "\n":
                self._line += 1
            elif here == "[" and self._array is None:
                self._array = True
            elif here == "," and self._array and self._comma and not self._over:
                self._comma = False
            elif here not in _SPACE:
                self._array = bool(self._array)
                break
            place += 1
        return place

    def _end(self, place: int, last: bool) -> int:
        """Where the value that begins here ends; -1 if it does not end in this piece. Raises BadLine."""
        if self._array and self._comma:
            raise BadLine(self._line, "a comma is missing between two values")
        try:
            _, end = self._scan(self._text, place)
        except JSONDecodeError as problem:
            if last or len(self._text) - place > self._limit:
                if not last and (problem.pos == len(self._text) or problem.msg.startswith("Unterminated")):
                    limit = f"{self._limit} characters; see -X max.request.size"
                    raise BadLine(self._line, f"the value has more than {limit}") from None
                line = self._line + self._text.count("\n", place, problem.pos)
                raise BadLine(line, "is not JSON") from None
            return -1
        except (ValueError, RecursionError):
            raise BadLine(self._line, "is not JSON") from None
        if not last and self._text[end - 1] not in '}]"' and not self._text[end:].lstrip(_OF_NUMBERS):
            return -1  # a number may have more digits, a point or an exponent
        if end < len(self._text) and self._text[end] not in _SPACE + ",]" + '{["':
            raise BadLine(self._line, "is not JSON")
        return end
