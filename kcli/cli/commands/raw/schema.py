"""`kcli raw --list` and `--describe`: the APIs, in whose versions, and the fields of their messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kcli.cli.commands.raw.body import name_of
from kcli.cli.commands.raw.field_docs import meaning_of
from kcli.cli.commands.raw.whom import broker_of, place
from kcli.cli.output.render import Document, write
from kcli.cli.output.shapes.shape import shape
from kcli.cli.parsing.groups import FormatOptions, OutputOptions
from kcli.cli.runtime.answer import answer, format_of
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.proto.as_json import camel, type_of
from kcli.proto.compile import fields_of
from kcli.proto.messages import REQUESTS, request_type
from kcli.proto.schema import FOREVER, Message, Request
from kcli.values import Field, Value

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row


def list_apis(options: OutputOptions, broker: str | None) -> int:
    """`kcli raw --list`: ours, and those of the broker that --broker names; ours alone where none can be reached."""
    place(broker)

    async def work(cluster: Cluster, document: Document) -> None:
        rows = document.rows["apis"] = [_api(key, None) for key in sorted(REQUESTS)]
        offered = await (await broker_of(cluster, broker)).versions()
        rows[:] = [_api(key, offered) for key in sorted(REQUESTS.keys() | offered.keys())]

    return answer(options, "raw.list", work)


def _api(key: int, offered: dict[int, tuple[int, int]] | None) -> Row:
    """One API. `used` is the version that would be spoken, None where there is none in common."""
    kind = request_type(key)
    theirs = (offered or {}).get(key)
    used = None
    if kind is not None and theirs is not None:
        used = min(theirs[1], kind.versions.last)
        used = used if used >= max(theirs[0], kind.versions.first) else None
    return {
        "key": key,
        "api": None if kind is None else name_of(kind),
        "kcli": None if kind is None else str(kind.versions),
        "broker": None if theirs is None else f"{theirs[0]}-{theirs[1]}" if theirs[0] != theirs[1] else str(theirs[0]),
        "used": used,
    }


def describe(options: FormatOptions, kind: type[Request[Any]], version: int | None) -> int:
    """`kcli raw --describe API`, with -v only what that version has. Raises UsageError for a version there is not."""
    if version is not None and version not in kind.versions:
        raise UsageError(f"{name_of(kind)} has versions {kind.versions} here, not {version}")
    document = Document(shape=shape("raw.describe"))
    response: type[Message] = kind.response()
    document.rows["api"] = [
        {
            "key": kind.api_key,
            "api": name_of(kind),
            "versions": str(kind.versions),
            "flexible": str(kind.flexible),
            "about": (kind.__doc__ or "").strip(),
        }
    ]
    document.rows["fields"] = [
        {"kind": what, **row}
        for what, message in (("request", kind), ("answer", response))
        for row in _fields(message, version, "", message.versions)
    ]
    write(document, format_of(options))
    return 0


def _fields(struct: type[Value], version: int | None, path: str, within: Any) -> list[Row]:
    """The fields in the order of the wire, what is inside of a list or a struct after it."""
    rows: list[Row] = []
    for f, wire in fields_of(struct):
        extra = f.extra
        if version is not None and version not in extra.versions:
            continue
        name = f"{path}{camel(f.name)}"
        rows.append(
            {
                "field": name,
                "type": type_of(wire),
                "versions": _versions(extra.versions, within),
                "null": _versions(extra.null, within) if extra.null.first <= extra.null.last else None,
                "default": _default(f, type_of(wire)),
                "tag": extra.tag,
                "about": meaning_of(f.name) or None,
            }
        )
        inner = wire.element.struct if wire.element is not None else wire.struct
        if inner is not None:
            rows += _fields(inner, version, f"{name}[]." if wire.element is not None else f"{name}.", within)
    return rows


def _versions(found: Any, within: Any) -> str:
    """A range as Kafka writes it: open to the top where it goes on."""
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
