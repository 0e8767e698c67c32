"""What costs a peer little does not cost us much: parts without data, tags without end, too large an answer."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable

import pytest
from lz4 import frame

from kcli.errors import DecodeError
from kcli.proto import session
from kcli.proto.compression import decompress
from kcli.proto.messages.metadata import MetadataRequest, MetadataResponse
from kcli.proto.session import ClientSession

SIZE = 4 * 1024 * 1024


def spent(work: Callable[[], object]) -> float:
    """Seconds of this process: how busy the machine is does not count."""
    before = time.process_time()
    work()
    return time.process_time() - before


@pytest.mark.parametrize(
    ("codec", "empty"), [("gzip", gzip.compress(b"")), ("lz4", frame.compress(b""))], ids=["gzip", "lz4"]
)
def test_parts_without_data_are_read_as_fast_as_they_come_and_are_counted(codec: str, empty: bytes) -> None:
    assert decompress(codec, empty * 1000, 1 << 20) == b""

    def refused() -> None:
        with pytest.raises(DecodeError, match="more than 10000 streams"):
            decompress(codec, empty * (SIZE // len(empty)), 1 << 20)

    assert spent(refused) < 4  # it was minutes


@pytest.mark.parametrize(("codec", "made"), [("gzip", gzip.compress), ("lz4", frame.compress)], ids=["gzip", "lz4"])
def test_parts_are_joined_wherever_they_end(codec: str, made: Callable[[bytes], bytes]) -> None:
    texts = [bytes([n % 251]) * (7**n % 70_000) for n in range(40)]
    assert decompress(codec, b"".join(map(made, texts)), 1 << 24) == b"".join(texts)
    with pytest.raises(DecodeError, match="cut off"):
        decompress(codec, b"".join(map(made, texts))[:-9], 1 << 24)


def test_the_tags_of_a_header_are_counted() -> None:
    asking = ClientSession("kcli")
    asking.send(MetadataRequest(topics=None), 12)
    endless = bytes(4) + b"\xff\xff\xff\x7f" + b"\x63\x00" * (SIZE // 2)
    with pytest.raises(DecodeError, match="tagged fields; the most is 1000"):
        asking.receive(endless)


def test_an_answer_without_records_has_a_size_that_a_cluster_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = ClientSession("kcli")
    asking.send(MetadataRequest(topics=None), 12)
    answer = bytes(5) + b"".join(MetadataResponse(cluster_id="c" * 200).encode(12))
    monkeypatch.setattr(session, "LARGEST_PLAIN", len(answer) - 1)
    with pytest.raises(DecodeError, match="bytes to Metadata; the most without records is"):
        asking.receive(answer)
    monkeypatch.setattr(session, "LARGEST_PLAIN", len(answer))
    assert asking.receive(answer)[1] == MetadataResponse(cluster_id="c" * 200)
