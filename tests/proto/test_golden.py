"""The golden files: what others wrote is read as they meant it, and what we write has the same bytes.

`tests/proto/golden/make.py` says how the files were made.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kcli.proto.batch import read_batches, seal
from kcli.proto.core import Builder

HERE = Path(__file__).parent / "golden"
TABLE: dict[str, list[Any]] = json.loads((HERE / "golden.json").read_text())


def data(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


@pytest.mark.parametrize("name", TABLE)
def test_F_what_others_wrote_is_read_as_they_meant_it(name: str) -> None:
    batches = read_batches((HERE / f"{name}.bin").read_bytes())
    found = [
        [record.timestamp, record.key, record.value, [tuple(one) for one in record.headers]]
        for batch in batches
        for record in batch
    ]
    assert found == [
        [timestamp, data(key), data(value), [(title, data(content)) for title, content in headers]]
        for timestamp, key, value, headers in TABLE[name]
    ]
    assert [record.offset for batch in batches for record in batch] == list(range(len(TABLE[name])))


def test_F_the_codec_and_the_format_are_those_of_the_name() -> None:
    for name in TABLE:
        *_, version, codec = name.split("-")
        (first, *_) = read_batches((HERE / f"{name}.bin").read_bytes())
        assert first.magic == int(version[1:])
        if codec in ("gzip", "snappy", "lz4", "zstd"):
            assert (HERE / f"{name}.bin").read_bytes()[22 if first.magic == 2 else 17] & 7


@pytest.mark.parametrize(
    "name", ["kafka-python-v2-none", "aiokafka-v2-none", "kafka-python-v2-headers", "aiokafka-v2-headers"]
)
def test_A5_13_F_what_we_write_has_the_bytes_that_others_write(name: str) -> None:
    builder = Builder()
    for timestamp, key, value, headers in TABLE[name]:
        builder.append(timestamp, data(key), data(value), [(title, data(content)) for title, content in headers])
    begun, ended = builder.base_timestamp, builder.max_timestamp
    sealed = seal(builder.take(), len(TABLE[name]), begun, ended)
    sealed.stamp(-1, -1, -1)
    assert bytes(sealed.data)[16:] == (HERE / f"{name}.bin").read_bytes()[16:]  # before it: the broker's own fields


def test_D15_snappy_is_framed_as_xerial_does() -> None:
    for oracle in ("kafka-python", "aiokafka"):
        whole = (HERE / f"{oracle}-v2-snappy.bin").read_bytes()
        assert whole[61:69] == bytes.fromhex("82534e4150505900")
