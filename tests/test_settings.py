"""Settings: bootstrap servers as people write them."""

from __future__ import annotations

import pytest

from kcli.errors import UsageError
from kcli.settings import parse_bootstrap
from tests.each import each

TAKEN = [
    ("one", [("one", 9092)]),
    ("one:1, two:2,", [("one", 1), ("two", 2)]),
    ("PLAINTEXT://one:1", [("one", 1)]),
    ("one:1,one:1", [("one", 1)]),
    ("::1", [("::1", 9092)]),
    ("[::1]:1", [("::1", 1)]),
    ("fe80::1%eth0", [("fe80::1%eth0", 9092)]),
    ("2001:db8:0:0:0:0:0:1", [("2001:db8:0:0:0:0:0:1", 9092)]),
    ("[fe80::1]", [("fe80::1", 9092)]),
    ("::ffff:10.0.0.1", [("::ffff:10.0.0.1", 9092)]),
    ("::1:9092", [("::1", 9092)]),
    ("::1:19092", [("::1", 19092)]),
    ("::1:2181", [("::1", 2181)]),
    ("fd00::7:9093,fd00::8:9093", [("fd00::7", 9093), ("fd00::8", 9093)]),
    ("fd00::7:29092", [("fd00::7", 29092)]),
    ("fd00::7:1234", [("fd00::7:1234", 9092)]),
    ("[fd00::7:9093]", [("fd00::7:9093", 9092)]),
    ("fe80::1%eth0:9092", [("fe80::1%eth0", 9092)]),
    ("2001:db8:0:0:0:0:0:1:19092", [("2001:db8:0:0:0:0:0:1", 19092)]),
]
REFUSED = [
    ("", "write host:port"),
    (" , ", "write host:port"),
    ("http://one:8080", r"http://one:8080 is the address of a web server; write a broker's HOST:PORT"),
    ("HTTPS://me:secret@one/topics", r"HTTPS://one is the address of a web server"),
    ("one:9092:1", "one:9092:1 has more than one port"),
    ("a:b:c", "has more than one port"),
    ("one::1", "has more than one port"),
    ("fd00::7:99999", "no valid port"),
    ("one/path", "write host:port"),
    ("one two", "write host:port"),
    ("[::1", r"write \[v6\]:port"),
    (":9", "write host:port"),
    ("one:0", "no valid port"),
    ("one:70000", "no valid port"),
    ("one:port", "no valid port"),
    ("me:secret@one:1", "use sasl.username and sasl.password"),
]


@each(("text", "addresses"), TAKEN)
def test_C1_servers_are_taken_as_people_write_them(text: str, addresses: list[tuple[str, int]]) -> None:
    assert [tuple(address) for address in parse_bootstrap(text)] == addresses


@each(("text", "message"), REFUSED)
def test_what_is_no_server_is_refused_with_what_to_write(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_bootstrap(text)
    assert isinstance(caught.value, ValueError)
    assert "secret" not in str(caught.value)
