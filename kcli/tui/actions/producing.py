"""What the produce form sends: its fields as a record, the same command, and where the record went."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kcli.client import Client
from kcli.errors import UsageError
from kcli.settings import ProducerSettings
from kcli.tui.actions.saving import as_text
from kcli.tui.records.editing import wrong_json
from kcli.tui.text.printable import quoted
from kcli.values import Value, field

if TYPE_CHECKING:
    from kcli.tui.tail import Seen


class Draft(Value):
    """A record as it is written down. None is null; `partition` None is by key. `stored_key` and `stored` are the bytes
    of a key and a value that are written by a schema, `option` says so in the command. `record` is the
    record under edit, if the draft began with a record."""

    topic: str = ""
    partition: int | None = None
    key: str | None = None
    value: str | None = ""
    headers: list[tuple[str, str | None]] = field(factory=list)
    stored: bytes | None = None
    stored_key: bytes | None = None
    option: str = ""
    record: Seen | None = None

    @property
    def command(self) -> str:
        """The kcli command that sends the same record."""
        words = ["kcli produce", quoted(self.topic) if self.topic else "TOPIC"]
        if self.partition is not None:
            words.append(f"-p {self.partition}")
        texts = [self.key, self.value, *(text for header in self.headers for text in header)]
        if any("\0" in text for text in texts if text is not None):  # where a shell cuts a word off
            return " ".join([*words, f"--input json <<< {_word(self._envelope)}"])
        if self.key is not None:
            words.append(f"-k {_word(self.key)}")
        words += [f"-H {_word(name if value is None else f'{name}={value}')}" for name, value in self.headers]
        words.append("--value '' -Z" if self.value is None else f"--value {_word(self.value)}")
        return " ".join(words) + self.option

    @property
    def _envelope(self) -> str:
        """The record that is sent as a line of `consume -J`."""
        headers = [[name, as_text(data)] for name, data in self._sent_headers]
        return json.dumps({"key": as_text(self._sent_key), "value": as_text(self._sent_value), "headers": headers})

    @property
    def _sent_key(self) -> bytes | None:
        return _bytes(self.key) if self.stored_key is None else self.stored_key

    @property
    def _sent_value(self) -> bytes | None:
        return _bytes(self.value) if self.stored is None else self.stored

    @property
    def _sent_headers(self) -> list[tuple[str, bytes | None]]:
        return [(name, _bytes(text)) for name, text in self.headers]

    async def send(self, client: Client) -> tuple[int, int]:
        """Send it with acks=all and wait; the partition and the offset where it is stored. Raises KcliError."""
        record = self._sent_value, self._sent_key, self._sent_headers
        async with client.producer(ProducerSettings(linger=0.0, wait_for_topic=False)) as producer:
            promise = await producer.send(self.topic, *record, self.partition)
            stored = await promise
            return stored.partition, stored.offset


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def draft_of(record: Seen) -> Draft:
    """A record as the form has it, for its own partition; bytes that are no text stay in it as they are."""

    def text(data: bytes | None) -> str | None:
        return None if data is None else data.decode("utf-8", "surrogateescape")

    return Draft(
        topic=record.topic,
        partition=record.partition,
        key=text(record.key),
        value=text(record.value),
        headers=[(name, text(value)) for name, value in record.headers],
        record=record,
    )


def named(record: Seen | None) -> dict[str, bytes]:
    """The key and the value of a record that are bytes of a schema: their frame names it, or a header does. JSON beside
    such a header is edited as it is."""
    if record is None:
        return {}
    from kcli.serde.schemas.decoder import HEADER, column_of
    from kcli.serde.schemas.frames import frame_names
    from kcli.serde.schemas.single import columns_of

    columns = columns_of([(record.key, record.value, record.headers)])
    found: dict[str, bytes] = {}
    for kind, data in (("key", record.key), ("value", record.value)):
        names, _, skips = frame_names(columns, *column_of(columns, kind), kind, HEADER % kind.encode())
        if data is not None and names and (skips[0] or not _is_json(data)):
            found[kind] = data
    return found


def _is_json(data: bytes) -> bool:
    try:
        return data[:1] in (b"{", b"[") and json.loads(data) is not None
    except (ValueError, RecursionError):
        return False


def described(value: str | None) -> str:
    """What a value is, for the form: a JSON object or list, JSON that is broken and where, a text, null."""
    if value is None:
        return "null"
    if value.lstrip()[:1] not in ("{", "["):
        return f"text, {len(value.encode('utf-8', 'surrogateescape')):,} bytes" if value else "empty"
    if (problem := wrong_json(value)) is not None:
        return f"✖ {no_json(problem)}"
    found = json.loads(value)
    word = "field" if isinstance(found, dict) else "item"
    return f"JSON, {len(found)} {word}{'s' * (len(found) != 1)}"


def no_json(problem: json.JSONDecodeError | RecursionError) -> str:
    """Why a value is no JSON, and where."""
    if isinstance(problem, RecursionError):
        return "no JSON: it is nested too deeply"
    return f"no JSON: {problem.msg} (line {problem.lineno}, column {problem.colno})"


def partition_of(text: str) -> int | None:
    """What the field says; empty is by key. Raises UsageError."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"partition {text!r}: expected a number, or nothing to choose by the key")
    return int(text)


def headers_of(text: str) -> list[tuple[str, str | None]]:
    """A line each: `name=value`, `name=` is empty, `name` is null. Raises UsageError."""
    found: list[tuple[str, str | None]] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, equals, value = line.partition("=")
        if not name.strip():
            raise UsageError(f"header {line!r}: expected NAME=VALUE")
        found.append((name.strip(), value if equals else None))
    return found


def _word(text: str) -> str:
    """A word for a shell; lines and what a terminal would obey in bash's own spelling."""
    if text.isprintable():
        return quoted(text)
    spelled = "".join(
        one
        if one.isprintable() and one not in "\\'"
        else "\\n"
        if one == "\n"
        else "\\t"
        if one == "\t"
        else _spelled(one)
        for one in text
    )
    return f"$'{spelled}'"


def _spelled(one: str) -> str:
    return f"\\{one}" if one in "\\'" else "".join(f"\\x{byte:02x}" for byte in one.encode("utf-8", "surrogateescape"))
