"""Payloads of random messages, read as Google's library shows them."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kcli.serde.protobuf.reader import ProtobufReader, ProtobufSchema
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each
from tests.serde.protobuf.samples import EDITION, OLD, ORDER, RANDOM, messages, serialized, their_json

FILES = {"shop.Order": ORDER, "old.shop.Item": OLD, "ed.M": EDITION}
SCHEMAS = {name: (ProtobufSchema(text), ProtobufSchema(serialized(text))) for name, text in FILES.items()}


def read(name: str, data: bytes, form: int = 0, *, camel: bool = False) -> Any:
    schema = SCHEMAS[name][form]
    return json.loads(ProtobufReader(schema, schema.message(name), camel=camel).json(data))


def same(ours: Any, theirs: Any) -> bool:
    """NaN is a string in both; numbers are equal by value, and by their sign."""
    return repr(_plain(ours)) == repr(_plain(theirs))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@each("name", list(FILES))
@given(st.data())
@RANDOM
def test_random_messages_are_shown_as_by_google(name: str, data: st.DataObject) -> None:
    message = data.draw(messages(name, FILES[name]))
    payload = message.SerializeToString()
    for form in (0, 1):
        for camel in (False, True):
            ours, theirs = read(name, payload, form, camel=camel), their_json(message, FILES[name], camel=camel)
            assert same(ours, theirs), (ours, theirs)


@each("name", list(FILES))
@given(st.data())
@RANDOM
def test_what_is_cut_or_changed_is_read_or_refused(name: str, data: st.DataObject) -> None:
    payload = bytearray(data.draw(messages(name, FILES[name])).SerializeToString())
    for _ in range(data.draw(st.integers(0, 3))):
        if payload:
            payload[data.draw(st.integers(0, len(payload) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    payload = payload[: data.draw(st.integers(0, len(payload)))]
    with suppress(Unreadable):
        read(name, bytes(payload))
