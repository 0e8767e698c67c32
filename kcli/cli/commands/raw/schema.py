"""`kcli raw --list` and `--describe`: the APIs, in whose versions, and the fields of their messages."""

from __future__ import annotations

from typing import Any

from kcli.cli.commands.raw.body import broker_of, name_of, place
from kcli.cli.commands.raw.field_docs import meaning_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.groups import FormatOptions, OutputOptions
from kcli.cli.runtime.answer import answer, format_of
from kcli.cli.runtime.views import view_of
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.proto.as_json import type_of
from kcli.proto.compile import fields_of
from kcli.proto.messages import REQUESTS, request_type
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import FOREVER, Message, Request
from kcli.values import Field, Value


class OfferRow(Row, section="apis"):
    key: int = column("Number of the API.", rank=1)
    api: str | None = column("Its name; null if kcli does not know it.", rank=1)
    kcli: str | None = column("Versions that kcli supports.")
    broker: str | None = column("Versions that the broker supports; null if none.", rank=1)
    used: int | None = column("Version that both use; null if none.")


class ApiRow(Row, section="api"):
    key: int = column("Number of the API.", rank=1)
    api: str = column("Its name.", rank=1)
    versions: str = column("Versions that kcli supports.", unit="word")
    flexible: str = column("Versions with tagged fields and compact lengths.", unit="word")
    about: str = column("Its purpose.", unit="sentence")


class FieldRow(Row, section="fields"):
    kind: str = column("request or response.", unit="word")
    field: str = column("Path of the field, as in Kafka's schemas.", rank=1)
    type: str = column("Its type in Kafka's terms; [] means a list.")
    versions: str = column("Versions that have it.", unit="word")
    null: str | None = column("Versions in which it can be null.", sparse=True, rank=3)
    default: str = column("Its default, as JSON.", rank=3)
    tag: int | None = column("Number of a tagged field.", sparse=True, rank=3)
    about: str | None = column("Its meaning, if the name does not explain it.", unit="sentence")


LIST_SHAPE = shape("raw.list", "APIs, one a row.", OfferRow)
DESCRIBE_SHAPE = shape("raw.describe", "An API, and the fields of its request and response.", ApiRow, FieldRow)


def list_apis(options: OutputOptions, broker: str | None) -> int:
    """`kcli raw --list`: ours, and those of the broker that --broker names; ours alone where none can be reached."""
    place(broker)

    async def work(cluster: Cluster, document: Document) -> None:
        rows = document.of(OfferRow)
        rows += [_api(key, None) for key in sorted(REQUESTS)]
        offered = await (await broker_of(cluster, broker)).versions()
        rows[:] = [_api(key, offered) for key in sorted(REQUESTS.keys() | offered.keys())]

    return answer(options, LIST_SHAPE, work)


def _api(key: int, offered: dict[int, tuple[int, int]] | None) -> OfferRow:
    """One API. `used` is the version that would be spoken, None without one in common."""
    kind = request_type(key)
    theirs = (offered or {}).get(key)
    used = None
    if kind is not None and theirs is not None:
        used = min(theirs[1], kind.versions.last)
        used = used if used >= max(theirs[0], kind.versions.first) else None
    return OfferRow(
        key=key,
        api=None if kind is None else name_of(kind),
        kcli=None if kind is None else str(kind.versions),
        broker=None if theirs is None else f"{theirs[0]}-{theirs[1]}" if theirs[0] != theirs[1] else str(theirs[0]),
        used=used,
    )


def describe(options: FormatOptions, kind: type[Request[Any]], version: int | None) -> int:
    """`kcli raw --describe API`; of one version with --api-version. Raises UsageError for an unknown version."""
    if version is not None and version not in kind.versions:
        raise UsageError(f"{name_of(kind)} has versions {kind.versions} here, not {version}")
    document = Document(shape=DESCRIBE_SHAPE, view=view_of(options, DESCRIBE_SHAPE, format_of(options)))
    response: type[Message] = kind.response()
    document.of(ApiRow)[:] = [
        ApiRow(
            key=kind.api_key,
            api=name_of(kind),
            versions=str(kind.versions),
            flexible=str(kind.flexible),
            about=(kind.__doc__ or "").strip(),
        )
    ]
    fields = document.of(FieldRow)
    for what, message in (("request", kind), ("answer", response)):
        fields += _fields(what, message, version, "", message.versions)
    write(document, format_of(options))
    return 0


def _fields(kind: str, struct: type[Value], version: int | None, path: str, within: Any) -> list[FieldRow]:
    """The fields in the order of the wire, what is inside of a list or a struct after it."""
    rows: list[FieldRow] = []
    for f, wire in fields_of(struct):
        extra = f.extra
        if version is not None and version not in extra.versions:
            continue
        name = f"{path}{camel(f.name)}"
        rows.append(
            FieldRow(
                kind=kind,
                field=name,
                type=type_of(wire),
                versions=_versions(extra.versions, within),
                null=_versions(extra.null, within) if extra.null.first <= extra.null.last else None,
                default=_default(f, type_of(wire)),
                tag=extra.tag,
                about=meaning_of(f.name) or None,
            )
        )
        inner = wire.element.struct if wire.element is not None else wire.struct
        if inner is not None:
            rows += _fields(kind, inner, version, f"{name}[]." if wire.element is not None else f"{name}.", within)
    return rows


def _versions(found: Any, within: Any) -> str:
    """A range as Kafka writes it: open to the top where it has no end."""
    if found.last == FOREVER or found.last >= within.last:
        return f"{found.first}+"
    return str(found)


def _default(f: Field, kind: str) -> str:
    """As it is written in JSON."""
    from json import dumps

    value = f.make_default()
    if isinstance(value, bytes) and kind == "uuid":
        return '"" (no id)'
    if isinstance(value, bytes | bytearray | memoryview):
        return '""'
    if isinstance(value, str | int | float | bool | list) or value is None:
        return dumps(value)
    return "{}"
