"""Values derived from the declarations: for any message and version, one that this version can carry."""

from __future__ import annotations

import random
from typing import Any

from kcli.proto.compile import Wire, fields_of
from kcli.proto.messages import REQUESTS, request_type
from kcli.proto.schema import Message, Struct
from kcli.values import Value

RANGES = {
    "Int8": (-(2**7), 2**7 - 1),
    "Int16": (-(2**15), 2**15 - 1),
    "Int32": (-(2**31), 2**31 - 1),
    "Int64": (-(2**63), 2**63 - 1),
    "UInt16": (0, 2**16 - 1),
    "UInt32": (0, 2**32 - 1),
}
TEXT = ["", "a", "topic-1", "größe", "☃" * 50, "x" * 200]
SIZES = [0, 1, 2, 3, 130]


def messages() -> list[type[Message]]:
    """Every declared request and response, in the order of their API keys."""
    found: list[type[Message]] = []
    for key in REQUESTS:
        request = request_type(key)
        assert request is not None
        found += [request, request.response()]
    return found


def message_versions() -> list[tuple[type[Message], int]]:
    return [(m, v) for m in messages() for v in range(m.versions.first, m.versions.last + 1)]


def sample(struct: type[Value], version: int, rng: random.Random, *, depth: int = 0) -> Any:
    """A random value of `struct`: fields that `version` does not carry keep their default."""
    given: dict[str, Any] = {}
    for f, wire in fields_of(struct):
        if version not in f.extra.versions:
            continue
        if version in f.extra.null and rng.random() < 0.25:
            given[f.name] = None
        else:
            given[f.name] = _value(wire, version, rng, depth)
    return struct(**given)


def _value(wire: Wire, version: int, rng: random.Random, depth: int) -> Any:
    kind = wire.kind
    if kind in RANGES:
        low, high = RANGES[kind]
        return rng.choice([low, high, 0, 1, rng.randint(low, high), rng.randint(0, 127)])
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "Float64":
        return rng.choice([0.0, -1.5, 1e300])
    if kind == "Uuid":
        return rng.randbytes(16)
    if kind == "str":
        return rng.choice(TEXT)
    if kind in ("bytes", "Records"):
        return rng.randbytes(rng.choice(SIZES))
    if kind == "list":
        assert wire.element is not None
        count = rng.choice(SIZES if wire.element.struct is None else [0, 1, 2, 3])
        return [_value(wire.element, version, rng, depth + 1) for _ in range(count)]
    assert wire.struct is not None
    return sample(wire.struct, version, rng, depth=depth + 1)


def plain(value: Any) -> Any:
    """The value as nested dicts and lists, for comparing with what strangers decode."""
    if isinstance(value, Struct):
        return {f.name: plain(getattr(value, f.name)) for f in value.__fields__}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, memoryview | bytearray):
        return bytes(value)
    return value
