"""The small texts of options."""

from __future__ import annotations

import pytest

from kcli.cli.output import text
from kcli.errors import UsageError


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (r"\n", b"\n"),
        (r"\0", b"\0"),
        (r"\t", b"\t"),
        (r"\x1f", b"\x1f"),
        (";;", b";;"),
        ("é", "é".encode()),
        ("\\", b"\\"),
    ],
)
def test_delimiters(given: str, made: bytes) -> None:
    assert text.delimiter(given, "-D") == made


@pytest.mark.parametrize("given", ["", r"\x", r"\xz1"])
def test_no_delimiter(given: str) -> None:
    with pytest.raises(UsageError, match="-D"):
        text.delimiter(given, "-D")


@pytest.mark.parametrize(("given", "made"), [("0", [0]), ("3-5,0", [0, 3, 4, 5]), ("1,1", [1])])
def test_partitions(given: str, made: list[int]) -> None:
    assert text.partitions(given) == made


@pytest.mark.parametrize("given", ["", "x", "5-3", "-1", "1-", "0-999999999", "1,,2"])
def test_no_partitions(given: str) -> None:
    with pytest.raises(UsageError, match="-p"):
        text.partitions(given)


@pytest.mark.parametrize(
    ("given", "made"), [("lz4", ("lz4", None)), ("zstd:3", ("zstd", 3)), ("zstd:-5", ("zstd", -5))]
)
def test_codecs(given: str, made: object) -> None:
    assert text.codec(given) == made


@pytest.mark.parametrize("given", ["", "brotli", "zstd:", "zstd:x", "snappy:1"])
def test_no_codec(given: str) -> None:
    with pytest.raises(UsageError, match="-z"):
        text.codec(given)


def test_headers_keep_order_repeats_empty_and_null() -> None:
    assert text.headers(["a=1", "a=", "b", "c=x=y"]) == [("a", b"1"), ("a", b""), ("b", None), ("c", b"x=y")]
    with pytest.raises(UsageError, match="-H"):
        text.headers(["=x"])


@pytest.mark.parametrize("given", ["zstd:99", "gzip:10", "gzip:0", "lz4:0", "lz4:17"])
def test_a_level_that_the_codec_does_not_have_is_refused_before_anything_is_sent(given: str) -> None:
    with pytest.raises(UsageError, match=f"-z {given}: the levels of"):
        text.codec(given)
