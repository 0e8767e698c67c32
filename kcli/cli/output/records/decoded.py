"""JSON envelopes with decoded keys and values (-J --decoded), and tokens of -f that name a record's schema.

A key or value that was decoded is JSON, and `key_schema` or `value_schema` beside it says by which schema; all else is
as in the envelopes of stored bytes. `produce --input json --value-schema from-record` stores them again.
"""

from __future__ import annotations

import json

from kcli.errors import UsageError
from kcli.proto.plain.json import texts
from kcli.schemas import SchemaRefused
from kcli.serde.schemas.decoded_batch import DecodedBatch
from kcli.serde.schemas.writers import RecordWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.batch import Batch
    from kcli.proto.columns import Record
    from kcli.serde.schemas.labels import Label

HEADERS = {"key": "__key_schema_id", "value": "__value_schema_id"}
"""Confluent's headers that name the schema of a bare key or value."""


class DecodedEnvelopes:
    """Writes the envelopes. `changed` counts the keys and values that would not be stored byte for byte again: their
    payload has another form than kcli's, or options show less of it."""

    def __init__(self) -> None:
        self.changed = 0
        self._of_rules = ""
        self._writers: dict[tuple[int, bool], tuple[Label, Label, RecordWriter | None]] = {}
        self._text = texts()

    def write(self, out: bytearray, batch: Batch, topic: str, partition: int, limit: int) -> tuple[int, int]:
        """As `Batch.write_json`."""
        if not isinstance(batch, DecodedBatch):
            return batch.write_json(out, topic, partition, limit)
        written, after = 0, max(batch.first, batch.base_offset)
        stored = batch.stored.window(batch.first, batch.stop)
        front = f'{{"topic":{self._text(topic.encode())},"partition":{partition}'
        kind = batch.timestamp_type
        for record, raw in zip(batch, stored, strict=True):
            if written == limit:
                return written, after
            key, key_schema = self._field("key", record.key, raw, batch.labels)
            value, value_schema = self._field("value", record.value, raw, batch.labels)
            line = (
                f'{front},"offset":{record.offset},"timestamp":{record.timestamp},"timestamp_type":"{kind}","key":{key},'
                f'"value":{value},"headers":[{self._headers(record)}]{key_schema}{value_schema}}}\n'
            )
            out += line.encode()
            written, after = written + 1, record.offset + 1
        return written, min(batch.stop, batch.last_offset + 1)

    def _field(
        self, kind: str, data: bytes | None, raw: Record, labels: dict[str, dict[int, Label]]
    ) -> tuple[str, str]:
        """A key or value, and what names its schema."""
        label = labels.get(kind, {}).get(raw.offset)
        stored = raw.key if kind == "key" else raw.value
        if label is None or data is None or stored is None:
            return "null" if stored is None else self._text(stored), ""
        shown = bytes(data).decode()
        if "\n" in shown or "\r" in shown:  # the JSON of a JSON schema is as it was written
            shown = json.dumps(json.loads(shown), ensure_ascii=False, separators=(",", ":"))
        header = next((held for name, held in reversed(raw.headers) if name == HEADERS[kind]), None)
        bare = label.frame is None and header is None
        known, writer = self._writer(label, bare)
        if not _same(writer, shown, header, stored):
            self.changed += 1
            if 'READ"' in label.schema.rule_set:
                self._of_rules = ", and --without-rules what rules for reading change"
        return shown, f',"{kind}_schema":{_shown(known, self._text)}'

    def _writer(self, label: Label, bare: bool) -> tuple[Label, RecordWriter | None]:
        """The label as it is printed and what stores by it, None for what is not written. `bare`: a header of another
        serializer than Confluent's names the schema, and nothing is in front of the payload."""
        key = id(label), bare
        if key not in self._writers:
            known = label.replace(frame=b"") if bare else label
            try:
                writer = RecordWriter(known, validate=False)
            except (SchemaRefused, UsageError):
                writer = None
            self._writers[key] = label, known, writer
        return self._writers[key][1:]

    def _headers(self, record: Record) -> str:
        pairs = (
            (self._text(name.encode("utf-8", "surrogateescape")), "null" if held is None else self._text(held))
            for name, held in record.headers
        )
        return ",".join(f"[{name},{held}]" for name, held in pairs)

    def said(self) -> list[str]:
        """A sentence where something would be stored in other bytes."""
        if not self.changed:
            return []
        return [
            f"{self.changed:,} of the decoded keys and values would be stored in other bytes than now by "
            "`produce --value-schema from-record`; -J alone keeps every byte" + self._of_rules
        ]


def _same(writer: RecordWriter | None, shown: str, header: bytes | None, stored: bytes) -> bool:
    """Whether `from-record` stores the same bytes again."""
    try:
        return writer is not None and writer.write(shown, header) == stored
    except ValueError:
        return False


def _shown(label: Label, text: Callable[[bytes], str]) -> str:
    schema, parts = label.schema, []
    if schema.id >= 0:
        parts.append(f'"id":{schema.id}')
    else:
        parts += [f'"guid":{text(schema.guid.encode())}'] if schema.guid else []
    if label.subject:
        parts.append(f'"subject":{text(label.subject.encode())}')
    if label.version >= 0:
        parts.append(f'"version":{label.version}')
    parts.append(f'"type":"{schema.kind}"')
    if label.message:
        parts.append(f'"message":{text(label.message.encode())}')
    if label.frame is not None and label.frame != b"\0" + max(schema.id, 0).to_bytes(4, "big"):
        parts.append(f'"frame":{text(label.frame)}')
    return f"{{{','.join(parts)}}}"


class SchemaTokens:
    """The tokens of -f that name the schema of a key or a value, by its offset in `batch`, the batch that is printed
    now."""

    def __init__(self, *, terminal: bool) -> None:
        self.batch: Batch | None = None
        self._terminal = terminal

    def token(self, kind: str, modifier: str) -> Callable[[int], bytes]:
        """What prints the schema's name, or its id, of the record at an offset; nothing for what was not decoded."""

        def shown(offset: int) -> bytes:
            labels = self.batch.labels.get(kind, {}) if isinstance(self.batch, DecodedBatch) else {}
            label = labels.get(offset)
            if label is None:
                return b""
            data = (label.id if modifier == "schema-id" else label.name).encode("utf-8", "surrogateescape")
            if not self._terminal:
                return data
            from kcli.text.escape import visible_bytes

            return visible_bytes(data)

        return shown
