"""-D: records end at the leftmost delimiter, however the input comes in pieces; kcat and bytes.split agree."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from kcli.cli.commands.cat.parsing.line import CommandLine
from kcli.cli.commands.cat.produce import CatSending
from kcli.cli.commands.produce.input import source
from kcli.settings import ProducerSettings
from tests.cli.commands.produce.test_produce import FakeProducer, send
from tests.cli.conftest import Shell

ALPHABET = b"ab|"
CASES = 1000


def expected(data: bytes, delimiter: bytes) -> list[bytes]:
    """The records of an input; the last one needs no delimiter."""
    records = data.split(delimiter)
    return records if records[-1] else records[:-1]


def cases(seed: int, count: int) -> Iterator[tuple[bytes, bytes]]:
    """(data, delimiter): delimiters overlap themselves, and the last one is often missing or half there."""
    chance = random.Random(seed)
    for _ in range(count):
        delimiter = bytes(chance.choices(ALPHABET, k=chance.randint(1, 4)))
        parts = [bytes(chance.choices(ALPHABET, k=chance.randint(0, 4))) for _ in range(chance.randint(0, 9))]
        yield delimiter.join(parts) + delimiter[: chance.randint(0, len(delimiter))], delimiter


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """Input comes in pieces of one to five bytes, into a buffer that has to grow."""
    chance = random.Random(51)
    fill = source.Source.fill

    async def some(self: source.Source, room: memoryview) -> int:
        with room[: chance.randint(1, 5)] as part:
            return await fill(self, part)

    monkeypatch.setattr(source.Source, "fill", some)
    monkeypatch.setattr(source, "CHUNK", 8)
    return chance


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("form", ["", "-f %s", "-H a=b", "--rate 1000000"])
async def test_produce_cuts_at_the_leftmost_delimiter(tmp_path: Path, form: str) -> None:
    file = tmp_path / "in"
    for data, delimiter in cases(len(form), CASES // 4):
        file.write_bytes(data)
        producer = FakeProducer()
        assert await send(f"t {form} -D {delimiter.decode()} {file}", producer) == 0, (data, delimiter)
        values = [row if isinstance(row, bytes) else row[3] for row in producer.rows]
        assert values == expected(data, delimiter), (data, delimiter)


@pytest.mark.usefixtures("in_pieces")
async def test_cat_cuts_at_the_leftmost_delimiter_and_skips_empty_records(tmp_path: Path) -> None:
    file = tmp_path / "in"
    for data, delimiter in cases(7, CASES // 4):
        file.write_bytes(data)
        producer = FakeProducer()
        line = CommandLine(["-P", "-b", "x", "-t", "t", "-l", "-D", delimiter.decode(), str(file)], "kcat")
        sending = CatSending(line, cast(Any, producer), ProducerSettings())
        await sending.everything()
        values = [row if isinstance(row, bytes) else row[3] for row in producer.rows]
        assert values == [record for record in expected(data, delimiter) if record], (data, delimiter)


@pytest.mark.process
@pytest.mark.needs("kcat")
def test_kcat_cuts_at_the_same_places(kcli: Shell) -> None:
    """The pieces come through a pipe, with pauses."""
    chance = random.Random(3)
    given = [(b"a|||b", b"||"), (b"p1\n\np2\n", b"\n\n"), *cases(3, 10)]
    for data, delimiter in given:
        topic = kcli.topic()
        words = ["kcat", "-P", "-b", kcli.bootstrap, "-t", topic, "-D", delimiter.decode()]
        with subprocess.Popen(words, stdin=subprocess.PIPE) as theirs:
            assert theirs.stdin is not None
            cut = chance.randint(0, len(data))
            for piece in (data[:cut], data[cut:]):
                theirs.stdin.write(piece)
                theirs.stdin.flush()
                time.sleep(0.02)
            theirs.stdin.close()
            assert theirs.wait(30) == 0
        stored = [bytes.fromhex(line) for line in kcli.ok("consume", topic, "-e", "-f", "%s{hex}\\n").decode().split()]
        assert stored == [record for record in expected(data, delimiter) if record], (data, delimiter)
