"""XML as JSON: what xmltodict makes of it, and documents made to hurt."""

from __future__ import annotations

import json
import time
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.serde.binary.xml import XmlReader
from kcli.serde.formats import reader
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each

SECONDS = 5.0  # of CPU, for what must take milliseconds


def read(data: bytes) -> object:
    return json.loads(XmlReader().json(data))


@each(
    ("data", "shown"),
    [
        (
            b'<order id="7"><item>a</item><item>b</item><note/></order>',
            {"order": {"@id": "7", "item": ["a", "b"], "note": None}},
        ),
        (b"<a> x<b>1</b>y &lt; &#65; </a>", {"a": {"b": "1", "#text": "xy < A"}}),
        (b"<a><b/><b/><b>1</b></a>", {"a": {"b": [None, None, "1"]}}),
        (b'<n:a xmlns:n="u" n:x="1"><n:b/></n:a>', {"n:a": {"@xmlns:n": "u", "@n:x": "1", "n:b": None}}),
        (b"<a><![CDATA[<b> & ]]></a>", {"a": "<b> &"}),
        (b"<!-- c --><?pi x?><a>\n</a>", {"a": None}),
        (b"\xef\xbb\xbf<a>\xc3\xa9</a>", {"a": "\u00e9"}),
        ('<?xml version="1.0" encoding="utf-16"?><a>\u20ac</a>'.encode("utf-16"), {"a": "\u20ac"}),
        (b'<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', {"a": "\u00e9"}),
        (b'<?xml version="1.0" encoding="cp1252"?><a>\x80</a>', {"a": "\u20ac"}),
    ],
)
def test_documents(data: bytes, shown: object) -> None:
    assert read(data) == shown
    assert reader("xml")(data) == shown, "as --where reads it"


LAUGHS = b'<!DOCTYPE a [<!ENTITY a "ha">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)
)


@each(
    ("data", "reason"),
    [
        (LAUGHS + b"]><a>&j;</a>", "it declares a document type, which is not read"),
        (b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "it declares a document type, which is not read"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1/">]><a>&x;</a>', "it declares a document type"),
        (b"<a>" * 257 + b"</a>" * 257, "elements are nested more than 256 deep"),
        (b"<a>" * 1_000_000, "elements are nested more than 256 deep"),
        (b"<a>" + b" " * (16 << 20) + b"</a>", "it is longer than 16 MiB"),
        (
            b"<a " + b"".join(b'b%d="" ' % n for n in range(10_001)) + b"/>",
            "an element has more than 10,000 attributes",
        ),
        (b"<a " + b'b="" ' * 2 + b"/>", "it is not XML: duplicate attribute"),
        (b"", "it is not XML: no element found"),
        (b"<a>", "it is not XML: no element found"),
        (b"<a/><b/>", "it is not XML: junk after document element"),
        (b"plain", "it is not XML: syntax error"),
        (b"<a>&other;</a>", "it is not XML: undefined entity"),
        (b"<a>\xff</a>", "it is not XML: not well-formed (invalid token)"),
        (b"<a>&#xD800;</a>", "it is not XML: reference to invalid character number"),
        (b'<?xml version="1.0" encoding="nothing"?><a/>', "it is not XML: unknown encoding"),
        (b'<?xml version="1.0" encoding="rot13"?><a/>', "it is not XML: 'rot13' is not a text encoding"),
        (b'<?xml version="1.0" encoding="shift_jis"?><a/>', "it is not XML: multi-byte encodings are not supported"),
    ],
    ids=lambda held: repr(held)[:40],
)
def test_what_is_refused_is_refused_at_once(data: bytes, reason: str) -> None:
    began = time.process_time()
    with pytest.raises(Unreadable) as refused:
        read(data)
    assert str(refused.value).startswith(reason)
    assert time.process_time() - began < SECONDS


@given(st.binary(max_size=60) | st.text("<>/a&;=\"' \n!-[]?", max_size=30).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = XmlReader().json(data)
    except Unreadable:
        return
    assert isinstance(json.loads(found), dict)


TEXT = st.text(
    st.characters(min_codepoint=33, exclude_categories=["Cs", "Cn", "Zs", "Cc", "Zl", "Zp"]), min_size=1, max_size=5
)


@given(st.dictionaries(st.sampled_from("abcdef"), TEXT, min_size=1), st.lists(TEXT, min_size=2, max_size=4))
def test_texts_and_attributes_come_back(attributes: dict[str, str], items: list[str]) -> None:
    quoted = " ".join(f'{key}="{escape(value, {chr(34): "&quot;"})}"' for key, value in attributes.items())
    text = "".join(f"<item>{escape(item)}</item>" for item in items)
    expected = {**{f"@{key}": value for key, value in attributes.items()}, "item": items}
    assert read(f"<r {quoted}>{text}</r>".encode()) == {"r": expected}
