"""Batches as kcat prints them: plain values and formats by the record core, -J and -s by the row."""

from __future__ import annotations

from kcli.cli.commands.cat.parsing.words import Fatal, fail
from kcli.proto import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.cat.output.avro import AvroFields
    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.output.records.template import Convert, Program
    from kcli.proto.batch import Batch
    from kcli.proto.columns import Record

NULL = b"NULL"
TOKENS = frozenset("sSRkKThtpo")
PLAIN = {"n": 10, "t": 9, "r": 13}


class CatPrinter:
    """How one command line prints. On a terminal, hostile bytes of records are shown, not sent. Raises
    Fatal for a format that is none."""

    def __init__(self, line: CommandLine, avro: AvroFields | None = None, *, terminal: bool = False) -> None:
        self._line = line
        self._avro = avro
        self._terminal = terminal
        self._json = line.json
        self._pack = {} if line.json else line.pack
        self._program = compile_format(self._format(line), nulls=line.nulls, terminal=terminal and not line.pack)
        self._delimiter = b""
        self._values = False
        program = self._program
        if self._json:
            self._delimiter = program[0] if program and isinstance(program[0], bytes) else b""
        elif not self._pack and not line.nulls and len(program) == 2:
            one, other = program
            self._values = one == ("s", None) and isinstance(other, bytes) and other != b""
            self._delimiter = other if isinstance(other, bytes) else b""

    def _format(self, line: CommandLine) -> bytes:
        """kcat makes a format of -K and -D too, and with -J of the delimiter."""
        if line.template is not None:
            return line.template
        if line.json:
            return line.delimiter
        key = b"" if line.key_delimiter is None else b"%k" + line.key_delimiter
        return key + b"%s" + line.delimiter

    def put_many(self, out: bytearray, batches: list[Batch]) -> tuple[int, int]:
        """Append all of the first batches in one go, as far as that can be done. Returns how many records that were,
        and how many batches."""
        if not self._values:
            return 0, 0
        return core.write_many(batches, out, self._delimiter, b"")

    def put(self, out: bytearray, batch: Batch, topic: str, partition: int, broker: int, limit: int) -> tuple[int, int]:
        """Append a batch's records, at most `limit` (-1: all). Returns how many, and the offset after the last."""
        if not self._terminal or not (self._json or self._pack):
            return self._put(out, batch, topic, partition, broker, limit)
        from kcli.text.escape import visible_bytes, visible_json

        scratch = bytearray()
        try:
            return self._put(scratch, batch, topic, partition, broker, limit)
        finally:
            out += visible_json(bytes(scratch)) if self._json else visible_bytes(bytes(scratch), keep="\n\t")

    def _put(
        self, out: bytearray, batch: Batch, topic: str, partition: int, broker: int, limit: int
    ) -> tuple[int, int]:
        if self._json:
            from kcli.cli.commands.cat.output.json import members, write

            shown = members
            if self._avro is not None:
                from functools import partial

                from kcli.cli.commands.cat.output.avro import avro_members

                shown = partial(avro_members, self._avro, f"{topic} [{partition}]", go_on=self._line.go_on)
            return write(out, batch, topic, partition, broker, self._delimiter, limit, shown)
        if self._values:
            return batch.write_values(out, self._delimiter, limit, b"")
        if self._pack:
            return self._unpacked(out, batch, topic, partition, limit)
        return batch.write_format(out, self._program, topic.encode(), partition, limit)

    def _unpacked(self, out: bytearray, batch: Batch, topic: str, partition: int, limit: int) -> tuple[int, int]:
        """Rows whose keys or values are unpacked. What cannot be ends the run, after what was before it; with -E the
        row is broken off there, and the next begins."""
        from kcli.cli.commands.cat.output.pack import Unpacked

        written, after = 0, max(batch.first, batch.base_offset)
        for record in batch:
            if written == limit:
                return written, after
            try:
                self._row(out, record, topic, partition)
            except Unpacked as problem:
                out += problem.before
                sentence = f"Failed to format message in {topic} [{partition}] at offset {record.offset}: {problem}"
                if not self._line.go_on:
                    raise Fatal(f"{sentence}: terminating") from None
                fail(sentence)
            written, after = written + 1, record.offset + 1
        return written, min(batch.stop, batch.last_offset + 1)

    def _row(self, out: bytearray, record: Record, topic: str, partition: int) -> None:
        from kcli.proto.plain.format import SHOW_RECORD

        for item in self._program:
            if isinstance(item, bytes):
                out += item
                continue
            value, shown = SHOW_RECORD[item[0]](record, topic.encode(), partition)
            if item[0] in "sk" and not value:
                out += NULL if self._line.nulls else b""
            elif item[0] in self._pack:
                out += self._field(item[0], bytes(value))
            else:
                out += shown(value)

    def _field(self, field: str, data: bytes) -> bytes:
        """A key or a value, unpacked. Raises Unpacked."""
        from kcli.cli.commands.cat.output.pack import unpack

        if self._avro is not None and field in self._avro.fields:
            return self._avro.read(field, data)[0]
        return unpack("key" if field == "k" else "value", self._pack[field], data)


# kcat's -f as the program that a batch runs over its records: its tokens, and its escapes as it understands them.
#
# `\n \t \r` are bytes, `\` and a digit is a number as C writes it (`\065` octal, `\10` decimal), `\x` and a digit
# a hexadecimal one of any length of which the last byte counts; before anything else the backslash falls away.
def compile_format(text: bytes, *, nulls: bool, terminal: bool = False) -> Program:
    """The program of a format; with `nulls` (-Z) keys and values that are null or empty print as NULL, and on a
    terminal what it would obey is shown instead of sent. Raises Fatal for what is no token."""
    converts: dict[str, Convert | None] = dict.fromkeys("sk", _or_null if nulls else None)
    if terminal:
        from kcli.cli.output.records.template import convert_shown

        converts = convert_shown(NULL if nulls else b"")
    items: list[bytes | tuple[str, Convert | None]] = []
    place = 0
    while place < len(text):
        percent = text.find(b"%", place)
        if percent < 0:
            items.append(unescape(text[place:]))
            break
        if percent > place:
            items.append(unescape(text[place:percent]))
        token = text[percent + 1 : percent + 2].decode("latin-1")
        if token == "%":
            items.append(b"%")
        elif token in TOKENS and token:
            items.append((token, converts.get(token)))
        else:
            raise Fatal(f"Unsupported formatter: %{token}" if token else "Empty formatter")
        place = percent + 2
    return tuple(items)


def _or_null(value: bytes | None) -> bytes:
    return bytes(value) if value else NULL


def unescape(text: bytes) -> bytes:
    """A literal piece of a format."""
    out = bytearray()
    place = 0
    while place < len(text):
        here = text[place]
        place += 1
        if here != 0x5C or place == len(text):
            out.append(here)
            continue
        letter = chr(text[place])
        place += 1
        base = 0
        if letter == "x" and place < len(text):
            letter, base = chr(text[place]), 16
            place += 1
        if letter in "0123456789":
            number, place = _number(text, place - 1, base)
            out.append(number & 0xFF)
        else:
            out.append(PLAIN.get(letter, ord(letter)) if not base else ord(letter))
    return bytes(out)


def _number(text: bytes, place: int, base: int) -> tuple[int, int]:
    """What strtoul reads, and where it ends."""
    if base in (0, 16) and text[place : place + 2] in (b"0x", b"0X") and text[place + 2 : place + 3] in HEX:
        base, place = 16, place + 2
    elif base == 0:
        base = 8 if text[place] == 0x30 else 10
    digits = DIGITS[base]
    end = place
    while end < len(text) and text[end] in digits:
        end += 1
    return int(text[place:end], base), end


DIGITS = {8: b"01234567", 10: b"0123456789", 16: b"0123456789abcdefABCDEF"}
HEX = [bytes((digit,)) for digit in DIGITS[16]]
