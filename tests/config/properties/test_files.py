"""Property files as Java and librdkafka read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli.config.properties.files import lines_of
from kcli.config.properties.known import KNOWN, convert
from kcli.config.properties.merged import read_properties
from kcli.errors import UsageError


def read(path: Path, data: bytes) -> list[tuple[int, str, str]]:
    path.write_bytes(data)
    return list(lines_of(str(path)))


def test_a_properties_file_has_javas_escapes_and_separators(tmp_path: Path) -> None:
    data = (
        b"# comment\n! comment\n\na=1\nb : 2\nc 3\n  d\t=\t4\ne=a\\\n   b\\\n c\nf=\\u00e9\\t\\\\x\\=\n"
        b"sp\\ ace=5\ng=tr\\u0061iling\\ \nh=\\ud83d\\ude00\ni==x\nj=a\\\\\nk=\xc3\xa9\n"
    )
    assert [(key, value) for _, key, value in read(tmp_path / "x.properties", data)] == [
        ("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "abc"), ("f", "é\t\\x="), ("sp ace", "5"),
        ("g", "trailing "), ("h", "😀"), ("i", "=x"), ("j", "a\\"), ("k", "é"),
    ]  # fmt: skip


def test_a_properties_file_may_be_latin_1(tmp_path: Path) -> None:
    assert read(tmp_path / "x.properties", b"a=\xe9\n") == [(1, "a", "é")]


def test_another_file_is_librdkafkas_where_a_backslash_is_one(tmp_path: Path) -> None:
    assert read(tmp_path / "kcat.conf", b"sasl.password=a\\tb\\\\\nx=1\n") == [
        (1, "sasl.password", "a\\tb\\\\"),
        (2, "x", "1"),
    ]
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read(tmp_path / "kcat.conf", b"a=\xe9\n")


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"a=1\nb\n", ":2: expected KEY=VALUE"), (b"a=\\u12\n", "four hexadecimal"), (b"=x", ":1: expected")],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read(tmp_path / "x.properties", data)


def test_the_unit_of_a_property_is_the_one_in_its_name() -> None:
    expected = {"ms": 1.5, "bytes": 1500, "kbytes": 1500 * 1024}
    named = {name: expected[name.rpartition(".")[2]] for name in KNOWN if name.rpartition(".")[2] in expected}
    assert len(named) > 30
    assert {name: convert(name, "1500", KNOWN[name][2], "-X") for name in named} == named


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("max.in.flight=0", "property max.in.flight=0: expected a whole number, 1 or more"),
        (
            "request.timeout.ms=0",
            "property request.timeout.ms=0: expected milliseconds, more than 0 and at most 2147483647",
        ),
        (
            "request.timeout.ms=3000000000",
            "property request.timeout.ms=3000000000: expected milliseconds, more than 0 and at most 2147483647",
        ),
        ("linger.ms=-1", "property linger.ms=-1: expected milliseconds, 0 or more"),
        ("group.id=", "property group.id=: expected the name of a group"),
        (
            "isolation.level=committed",
            "property isolation.level=committed: isolation.level must be one of read_committed",
        ),
    ],
)
def test_a_value_that_a_setting_does_not_take_is_refused_by_the_propertys_name(given: str, says: str) -> None:
    with pytest.raises(UsageError, match=f"^{says}"):
        read_properties(None, [given])


def test_words_are_taken_in_any_case_and_no_idle_limit_is_a_long_one() -> None:
    words = ["acks=ALL", "isolation.level=READ_COMMITTED", "group.protocol=CONSUMER", "auto.offset.reset=Latest"]
    found = read_properties(None, [*words, "connections.max.idle.ms=-1"])
    assert (found.producer["acks"], found.consumer["isolation"]) == (-1, "read_committed")
    assert (found.group["protocol"], found.consumer["reset"]) == ("consumer", "latest")
    assert found.client["idle_timeout"] > 1e9
