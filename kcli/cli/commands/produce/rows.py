"""What `kcli produce` reads, as records: lines with keys, templates, lines of JSON, --value and --tombstone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.cli.commands.produce.plan import Plan
    from kcli.cli.output.records.envelope import Headers, Row


class Rows:
    """Makes records as a command line says: its key, headers, partition and timestamp, nulls, msgpack and schemas."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        encoding = plan.encoding
        self._pack = _packed if plan.msgpack else None if encoding is None else encoding.value
        self._pack_key = None if encoding is None else encoding.key
        self._named = {} if encoding is None else encoding.headers

    def given(self) -> list[Row]:
        """The records of --value, then those of --tombstone. Raises KcliError for a value that cannot be packed."""
        from kcli.errors import UsageError

        plan = self._plan
        try:
            rows = [self.row(None, value) for value in plan.values]
            keys = [self._key(key) for key in plan.tombstones]
        except ValueError as problem:
            raise UsageError(f"{'--value' if plan.values else '--tombstone'} {problem}") from None
        return rows + [(plan.partition, plan.timestamp, key, None, self._headers(key, None)) for key in keys]

    def _key(self, key: bytes | None) -> bytes | None:
        """A key as it is sent. Raises ValueError."""
        if key is None or self._pack_key is None:
            return key
        try:
            return self._pack_key(key)
        except ValueError as problem:
            raise ValueError(f"key: {problem}") from None

    def _default_key(self, value: bytes | None) -> bytes | None:
        """The key of a record that has none: --key-from, or -k. Raises ValueError for a value without that field."""
        field = self._plan.key_from
        return self._plan.key if field is None else _field_of(value, field)

    def row(self, key: bytes | None, value: bytes) -> Row:
        """A key in the input beats -k. Raises ValueError for a value that cannot be packed."""
        plan = self._plan
        key = self._default_key(value) if key is None else key
        key = self._key((key or None) if plan.nulls else key)
        if plan.nulls and not value:
            return (plan.partition, plan.timestamp, key, None, self._headers(key, None))
        if self._pack is not None:
            value = self._pack(value)
        return (plan.partition, plan.timestamp, key, value, self._headers(key, value))

    def _headers(self, key: bytes | None, value: bytes | None) -> Headers:
        """The headers of the line, and those that name the schemas of a key or value that is there."""
        headers = self._plan.headers
        if not self._named:
            return headers
        given = {"key": key, "value": value}
        return [*headers, *(header for kind, header in self._named.items() if given[kind] is not None)]

    def keyed(self, piece: bytes) -> Row:
        """A line, split at the first -K. Raises ValueError as `row`, and for a line without a key."""
        delimiter = self._plan.key_delimiter
        if delimiter is not None:
            key, separator, value = piece.partition(delimiter)
            if separator:
                return self.row(key, value)
            if self._plan.key is None:
                text = delimiter.decode("utf-8", "backslashreplace")
                raise ValueError(f"has no {text!r} between key and value (-K); -k KEY gives such lines a key")
        return self.row(None, piece)

    def reader(self) -> Callable[[bytes, int], Row]:
        """The reader of a line, given with its number. It raises BadLine, or ValueError with what is wrong."""
        plan = self._plan
        if plan.input != "lines":
            from kcli.cli.output.records.envelope import read_line

            kcat, readable = plan.input == "kcat" or None, plan.input == "json"
            from_record = None if plan.encoding is None else plan.encoding.from_record
            return lambda piece, line: self._whole(read_line(piece, line, kcat, from_record, readable=readable))
        template = plan.template
        if template is not None:
            return lambda piece, line: self._whole(template.row(piece))
        return lambda piece, line: self.keyed(piece)

    def _whole(self, row: Row) -> Row:
        """A record that says where it belongs, as far as no option says otherwise."""
        plan = self._plan
        partition, timestamp, key, value, headers = row
        if plan.by_key or plan.partition is not None:
            partition = plan.partition
        if plan.timestamp is not None:
            timestamp = plan.timestamp
        key = self._default_key(value) if key is None else key
        if plan.nulls:
            key, value = key or None, value or None
        if self._pack is not None and value is not None:
            value = self._pack(value)
        key = self._key(key)
        return (partition, timestamp, key, value, [*headers, *self._headers(key, value)])


def _packed(value: bytes) -> bytes:
    """JSON as msgpack. Raises ValueError."""
    from msgpack import packb

    from kcli.serde.formats import read_json

    try:
        parsed = read_json(value)
    except ValueError:
        raise ValueError("is not JSON, which --value-format msgpack requires") from None
    try:
        packed: bytes = packb(parsed, unicode_errors="surrogateescape")
    except (ValueError, OverflowError, RecursionError) as problem:
        raise ValueError(f"cannot be packed: {problem}") from None
    return packed


def _field_of(value: bytes | None, field: str) -> bytes | None:
    """A field of a JSON value as a key: texts as they are, others as JSON; null is no key. Raises ValueError."""
    from kcli.serde.formats import read_json

    try:
        found = None if value is None else read_json(value)
    except ValueError:
        raise ValueError("is not JSON, which --key-from requires") from None
    for name in field.removeprefix("value.").split("."):
        if not isinstance(found, dict) or name not in found:
            raise ValueError(f"has no field {field} (--key-from)")
        found = found[name]
    if found is None or isinstance(found, str):
        return None if found is None else found.encode("utf-8", "surrogatepass")
    import json

    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
