"""Large values go out as slices of a response: the same bytes as a copy, and only what was written is committed."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from kcli.cli.commands.consume.reading import Reading
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.output.records.printer import LARGE, Printer, slices
from kcli.consumer.poll import Fetched
from kcli.model import TopicPartition
from kcli.proto.batch import Batch, read_batches, seal
from kcli.proto.core import Builder
from kcli.system.pipes import MOST_PIECES
from tests.cli.commands.consume.test_corrupt import broken_inside
from tests.cli.output.test_printer import options


def batch(*values: bytes | None, codec: str = "none") -> Batch:
    builder = Builder()
    for value in values:
        builder.append(1_700_000_000_000, b"k", value, [("h", b"x")])
    sealed = seal(builder.take(), len(values), builder.base_timestamp, builder.max_timestamp, codec=codec)
    [made] = read_batches(bytes(sealed.data))
    return made


LONG = [random.Random(n).randbytes(LARGE + n) for n in range(5)]


def test_slices_are_the_bytes_that_a_copy_writes() -> None:
    batches = [batch(*LONG), batch(None, *(long * 2 for long in LONG), b""), batch(LONG[4])]
    batches[0].first += 2
    batches[0].stop -= 1
    pieces, records, done = slices(batches, b"||", b"NULL")
    copied = bytearray()
    written = [one.write_values(copied, b"||", -1, b"NULL")[0] for one in batches]
    assert (records, done) == (sum(written), 3)
    assert b"".join(pieces) == copied


@pytest.mark.parametrize(
    "other",
    [
        batch(b"x" * (LARGE - 100)),
        read_batches(broken_inside(bytes(LARGE), bytes(LARGE)))[0],
        batch(*LONG, codec="zstd"),
    ],
    ids=["small", "broken", "compressed"],
)
def test_slices_end_before_a_batch_that_is_not_for_them(other: Batch) -> None:
    pieces, records, done = slices([batch(LONG[0]), other, batch(LONG[1])], b"\n", b"")
    assert (b"".join(pieces), records, done) == (LONG[0] + b"\n", 1, 1)


@pytest.mark.parametrize("line", ["-J", "-K:", "-f %s"])
def test_only_plain_values_are_sliced(line: str) -> None:
    assert Printer(options(line), terminal=False).slices([batch(*LONG)]) == ([], 0, 0)


async def test_R3_a_slow_reader_gets_every_piece_in_order() -> None:
    pieces = [b"", *(piece for long in LONG * 20 for piece in (long, b"\n", b""))]
    expected = b"before" + b"".join(pieces)
    reader, writer = os.pipe()
    sink = Sink(writer)
    sink.buffer += b"before"
    with os.fdopen(reader, "rb") as taken:
        reading = asyncio.create_task(asyncio.to_thread(taken.read, len(expected)))
        assert await sink.flush(pieces)
        assert await reading == expected
    sink.buffer += b"x"
    assert not await sink.flush(pieces)
    sink.close()
    os.close(writer)


async def test_R3_more_pieces_than_one_write_takes(tmp_path: Path) -> None:
    pieces = [b"%d," % n for n in range(3 * MOST_PIECES + 7)]
    with (tmp_path / "out").open("wb") as file:
        sink = Sink(file.fileno())
        assert await sink.flush(pieces)
        sink.close()
    assert (tmp_path / "out").read_bytes() == b"".join(pieces)


async def test_R3_a_socket_and_a_system_without_writev(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sink = Sink(ours.fileno())
        assert await sink.flush([b"a", b"", b"bc"])
        sink.close()
        assert theirs.recv(3, socket.MSG_WAITALL) == b"abc"
    monkeypatch.setattr("kcli.system.pipes.GATHERS", False)
    with (tmp_path / "out").open("wb") as file:
        sink = Sink(file.fileno())
        assert await sink.flush([b"a", b"", b"bc"])
        sink.close()
    assert (tmp_path / "out").read_bytes() == b"abc"


async def test_R4_what_a_reader_that_left_did_not_take_is_not_committed() -> None:
    reader, writer = os.pipe()
    committed: list[int] = []
    commits = SimpleNamespace(written=lambda _, position: committed.append(position.offset))
    settings = SimpleNamespace(include_control=False)
    plan = SimpleNamespace(
        timeout=None,
        to_end=False,
        end=None,
        options=options(""), several=False, decoding=None, limit=-1, single=False, keep=None, settings=settings,
        passed=lambda *_: None,
    )  # fmt: skip
    sink = Sink(writer)
    reading = Reading(plan, SimpleNamespace(), sink, commits)  # type: ignore[arg-type]  # no broker is asked
    fetched = Fetched(topic="t", partition=0, batches=[batch(LONG[0])], next_offset=1)
    taking = asyncio.create_task(asyncio.to_thread(os.read, reader, 2 * LARGE))
    await reading._print(fetched)
    assert await taking == LONG[0] + b"\n"
    assert committed == [1]
    os.close(reader)
    await reading._print(Fetched(topic="t", partition=0, batches=[batch(*LONG)], next_offset=6))
    assert committed == [1]
    sink.close()
    os.close(writer)


async def test_where_pieces_cannot_be_written_together_they_are_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = SimpleNamespace(include_control=False)
    plan = SimpleNamespace(
        timeout=None,
        to_end=False,
        end=None,
        options=options(""),
        several=False,
        decoding=None,
        limit=-1,
        single=False,
        keep=None,
        settings=settings,
    )
    for vectored in (True, False):
        monkeypatch.setattr("kcli.system.pipes.GATHERS", vectored)
        with (tmp_path / "out").open("wb") as file:
            sink = Sink(file.fileno())
            reading = Reading(plan, SimpleNamespace(), sink, None)  # type: ignore[arg-type]  # no broker is asked
            assert await reading._at_once([batch(*LONG)], TopicPartition("t", 0)) == 1
            assert bool(sink.buffer) is not vectored
            assert await sink.flush()
            sink.close()
        assert (tmp_path / "out").read_bytes() == b"".join(long + b"\n" for long in LONG)
