"""The changes between two Avro schemas, field by field, and the compatibility level of the change."""

from __future__ import annotations

import json
from collections import namedtuple

from kcli.serde.avro.compatibility import incompatibilities
from kcli.serde.avro.types import Array, Enum, Fixed, Map, Named, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NamedTuple

    from kcli.serde.avro.types import Field

    class Difference(NamedTuple):
        """A change. `path` is the field, such as `items[].price`, "" for the schema itself; `change` is added, removed,
        renamed, type, default, symbols, size or name; `old` and `new` are short texts, None if absent."""

        path: str
        change: str
        old: str | None
        new: str | None
else:
    Difference = namedtuple("Difference", "path change old new")

LONGEST = 60  # characters of a default


def level_kept(old: Type, new: Type) -> str:
    """Return the level between two versions: FULL, BACKWARD, FORWARD or NONE. Unlike Java, the specification does not
    allow reading a decimal with another scale or precision, or a timestamp with another unit. Raises SchemaRefused."""
    if any(_is_misread(before, after) for _, before, after in _walk(old, new)):
        return "NONE"
    backward = not incompatibilities(new, old)
    forward = not incompatibilities(old, new)
    return {(True, True): "FULL", (True, False): "BACKWARD", (False, True): "FORWARD"}.get((backward, forward), "NONE")


def differences(old: Type, new: Type) -> list[Difference]:
    """Return the changes, in the order of the new schema's fields. Documentation and order do not count. A type that is
    used in several places is compared once."""
    return [change for changes, _, _ in _walk(old, new) for change in changes]


def _walk(old: Type, new: Type) -> Iterator[tuple[list[Difference], Type, Type]]:
    """Yield the corresponding types, each pair with its changes."""
    seen: set[tuple[int, int]] = set()
    to_do = [("", old, new)]
    while to_do:
        path, before, after = to_do.pop()
        if (id(before), id(after)) in seen:
            continue
        seen.add((id(before), id(after)))
        changes, inner = _compared(path, before, after)
        yield changes, before, after
        to_do += reversed(inner)


def _is_misread(old: Type, new: Type) -> bool:
    """Whether the logical types give the same bytes a different value."""
    return "" not in (_logical(old), _logical(new)) and _logical(old) != _logical(new)


def _compared(path: str, old: Type, new: Type) -> tuple[list[Difference], list[tuple[str, Type, Type]]]:
    """Return the changes of a type itself, and the pairs of nested types."""
    if isinstance(old, Union) or isinstance(new, Union):
        return _branches(path, old, new)
    if old.kind != new.kind or _logical(old) != _logical(new):
        return [Difference(path, "type", shown(old), shown(new))], []
    if isinstance(old, Array) and isinstance(new, Array):
        return [], [(f"{path}[]", old.items, new.items)]
    if isinstance(old, Map) and isinstance(new, Map):
        return [], [(f"{path}{{}}", old.values, new.values)]
    changes = []
    if isinstance(old, Named) and old.name != new.name:
        changes.append(Difference(path, "name", old.name, new.name))
    if isinstance(old, Fixed) and isinstance(new, Fixed) and old.size != new.size:
        changes.append(Difference(path, "size", str(old.size), str(new.size)))
    if isinstance(old, Enum) and isinstance(new, Enum):
        return changes + _symbols(path, old, new), []
    if isinstance(old, Record) and isinstance(new, Record):
        own, inner = _fields(path, old, new)
        return changes + own, inner
    return changes, []


def _fields(path: str, old: Record, new: Record) -> tuple[list[Difference], list[tuple[str, Type, Type]]]:
    before = {field.name: field for field in old.fields}
    changes, inner, taken = [], [], set()
    for field in new.fields:
        at = f"{path}.{field.name}" if path else field.name
        name = next((name for name in (field.name, *field.aliases) if name in before and name not in taken), None)
        if name is None:
            changes.append(Difference(at, "added", None, _described(field)))
            continue
        taken.add(name)
        was = before[name]
        if name != field.name:
            changes.append(Difference(at, "renamed", name, field.name))
        if (was.has_default, was.default) != (field.has_default, field.default):
            changes.append(Difference(at, "default", _default(was), _default(field)))
        inner.append((at, was.type, field.type))
    gone = [field for field in old.fields if field.name not in taken]
    changes += [
        Difference(f"{path}.{field.name}" if path else field.name, "removed", _described(field), None) for field in gone
    ]
    return changes, inner


def _symbols(path: str, old: Enum, new: Enum) -> list[Difference]:
    changes = []
    lost, more = (
        [symbol for symbol in old.symbols if symbol not in new.symbols],
        [s for s in new.symbols if s not in old.symbols],
    )
    if lost or more:
        changes.append(Difference(path, "symbols", ", ".join(lost) or None, ", ".join(more) or None))
    if old.default != new.default:
        changes.append(Difference(path, "default", old.default, new.default))
    return changes


def _branches(path: str, old: Type, new: Type) -> tuple[list[Difference], list[tuple[str, Type, Type]]]:
    """Compare branches by name; a different set of them is a change of the type."""
    before = {branch.name: branch for branch in (old.branches if isinstance(old, Union) else (old,))}
    after = {branch.name: branch for branch in (new.branches if isinstance(new, Union) else (new,))}
    changes = [] if list(before) == list(after) else [Difference(path, "type", shown(old), shown(new))]
    return changes, [(path, before[name], after[name]) for name in after if name in before]


def shown(type: Type) -> str:
    """Return a short form of a type: `array<int>`, `null | shop.Money`, `int (date)`."""
    if isinstance(type, Union):
        return " | ".join(shown(branch) for branch in type.branches) or "no branch"
    if isinstance(type, Array):
        return f"array<{shown(type.items)}>"
    if isinstance(type, Map):
        return f"map<{shown(type.values)}>"
    logical = _logical(type)
    return f"{type.name} ({logical})" if logical else type.name


def _logical(type: Type) -> str:
    logical = type.logical
    if logical is None:
        return ""
    return f"{logical.name} {logical.precision},{logical.scale}" if logical.name == "decimal" else logical.name


def _described(field: Field) -> str:
    return f"{shown(field.type)} = {_default(field)}" if field.has_default else shown(field.type)


def _default(field: Field) -> str | None:
    if not field.has_default:
        return None
    text = json.dumps(field.default, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
