"""kcat -P: the text between delimiters, or whole files, as records; empty ones are passed over.

Exit code 0 only when every record was acknowledged. Lines without headers go to the record core as they were read.
"""

from __future__ import annotations

import asyncio

from kcli.cli.commands.cat.parsing.words import FATAL, Fatal, say
from kcli.errors import BrokerError, KcliError
from kcli.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.output.records.envelope import Row
    from kcli.cli.runtime.signals import Stop
    from kcli.producer.producer import BatchOutcome, Producer
    from kcli.settings import ProducerSettings

STEP = 1 << 18  # bytes of keyed lines handed over at once
GRACE = 10.0  # seconds that a signal gives what was already accepted


async def produce(line: CommandLine, stop: Stop) -> int:
    """Send it all. Returns the exit code. Raises Fatal."""
    from kcli.client import Client

    settings = line.settings.producer()
    async with Client(line.settings.client()) as client:
        try:
            await stop.unless(client.cluster.partitions(str(line.topic)))
        except BrokerError:
            pass  # about the topic: what becomes of the first record says it, and whether it can be created
        producer = client.producer(settings)
        sending = CatSending(line, producer, settings)
        try:
            await producer.start()
            if settings.transactional_id is not None:
                say(line.verbosity, 1, "Using transactional producer")
                await stop.unless(producer.initialise())
                if stop.asked:
                    return 0
                await producer.begin()
            await stop.unless(sending.everything())
            await stop.unless(producer.flush())
            if settings.transactional_id is not None:
                await _end_transaction(line, producer, stop)
            elif stop.asked:
                await producer.flush(GRACE)
        finally:
            await producer.close(0)
    if stop.asked and settings.transactional_id is None:
        what = (
            "not all input read before it was acknowledged" if sending.failed else "all input read before it was sent"
        )
        say(line.verbosity, 1, f"Interrupted: {what}")
    return sending.exit_code()


async def _end_transaction(line: CommandLine, producer: Producer, stop: Stop) -> None:
    """Commit, or abort after a signal; after one the wait for brokers is GRACE at most. Raises Fatal, KcliError."""
    if stop.asked:
        say(line.verbosity, 0, "Aborting transaction due to termination signal")
        try:
            async with asyncio.timeout(GRACE):
                await producer.abort()
        except TimeoutError:
            raise Fatal("No response to the abort: the coordinator aborts after transaction.timeout.ms") from None
        return
    say(line.verbosity, 1, "Committing transaction")
    ending = asyncio.ensure_future(producer.commit())
    await stop.until(ending)
    if not ending.done():
        await asyncio.wait({ending}, timeout=GRACE)
    if not ending.done():
        ending.cancel()
        await asyncio.wait({ending})
        raise Fatal("It is unknown whether the transaction was committed")
    ending.result()
    say(line.verbosity, 1, "Transaction successfully committed")


class CatSending:
    """One run: what was read, and what failed."""

    def __init__(self, line: CommandLine, producer: Producer, settings: ProducerSettings) -> None:
        self.line = line
        self.producer = producer
        self.largest = settings.max_request_size
        self.partition = None if line.partition == -1 else line.partition
        self.left = line.count if line.count > 0 else -1
        self.files_failed = False
        self.failed = 0
        self.by_rows = (
            bool(line.headers)
            or line.tee
            or self.left > 0
            or len(line.delimiter) > 1
            or (line.key is not None and bool(line.key_delimiter))
        )
        producer.on_batch = self._settled

    def _settled(self, outcome: BatchOutcome) -> None:
        if outcome.error is not None:
            self.failed += outcome.count
            for _ in range(min(outcome.count, 10)):
                say(self.line.verbosity, 1, f"Delivery failed for message: {outcome.error}")

    def exit_code(self) -> int:
        return FATAL if self.failed or self.files_failed else 0

    async def everything(self) -> None:
        """Read and hand over. Raises Fatal."""
        if self.line.words and not self.line.lines:
            await self._files()
            return
        from kcli.cli.commands.produce.input.source import Source

        path = self.line.words[0] if self.line.words else "-"
        try:
            source = Source(path)
        except (OSError, KcliError) as problem:
            raise Fatal(f"Cannot open {path}: {getattr(problem, 'strerror', None) or problem}") from None
        try:
            async for buffer, end in source.blocks(self.line.delimiter, self.largest):
                await self._block(buffer, end)
                if self.left == 0 or self.failed:
                    return
        finally:
            source.close()

    async def _files(self) -> None:
        """Each file is a record."""
        good = 0
        for path in self.line.words:
            try:
                data = _whole(path)
            except OSError as problem:
                say(self.line.verbosity, 1, f"Failed to open {path}: {problem.strerror}")
                continue
            good += 1
            if data:
                await self._rows([(self.partition, None, self.line.key, data, self.line.headers)])
        self.files_failed = good == 0
        if good and good < len(self.line.words):
            say(
                self.line.verbosity,
                1,
                f"Failed to produce from {len(self.line.words) - good}/{len(self.line.words)} files",
            )

    async def _block(self, buffer: bytearray, end: int) -> None:
        """Whole records, each with its delimiter behind it."""
        delimiter = self.line.delimiter
        if self.by_rows:
            from kcli.cli.commands.produce.input.source import records_of

            pieces = [piece for piece in records_of(buffer, 0, end, delimiter) if piece]
            if self.left > 0:
                pieces = pieces[: self.left]
                self.left -= len(pieces)
            await self._rows([self._row(piece) for piece in pieces])
            if self.line.tee:
                _tee(b"".join(pieces))
            return
        if buffer.startswith(delimiter) or buffer.find(delimiter + delimiter, 0, end) >= 0:
            buffer = _without_empty(bytes(buffer[:end]), delimiter)
            end = len(buffer)
        start, step = 0, STEP if self.line.key_delimiter else end
        while start < end:
            taken = await self.producer.send_lines(
                str(self.line.topic),
                buffer,
                start,
                min(start + step, end),
                delimiter=delimiter[0],
                key_delimiter=self.line.key_delimiter or None,
                key=self.line.key,
                partition=self.partition,
                empty_is_null=self.line.nulls,
            )
            if taken == start:
                step *= 2  # no whole line in it
            start = taken

    async def _rows(self, rows: list[Row]) -> None:
        for _, _, _, value, _ in rows:
            if value is not None and len(value) > self.largest:
                raise Fatal(f"Failed to produce message ({len(value)} bytes): Broker: Message size too large")
        if rows:
            await self.producer.send_records(str(self.line.topic), rows)

    def _row(self, piece: bytes) -> Row:
        """A key in the record beats -k, unless -Z made it null."""
        line = self.line
        key: bytes | None = None
        value: bytes | None = piece
        if line.key_delimiter:
            before, found, after = piece.partition(line.key_delimiter)
            if found:
                key, value = before, after
                if line.nulls:
                    key, value = key or None, value or None
        return (self.partition, None, line.key if key is None else key, value, line.headers)


def _whole(path: str) -> bytes:
    return files.read(path, files.DOCUMENT)


def _without_empty(data: bytes, delimiter: bytes) -> bytearray:
    """The same without empty records."""
    twice = delimiter + delimiter
    while twice in data:
        data = data.replace(twice, delimiter)
    return bytearray(data.removeprefix(delimiter))


def _tee(data: bytes) -> None:
    """-T: what was sent, one after another as kcat prints it: without delimiters."""
    import os

    with memoryview(data) as left:
        done = 0
        while done < len(left):
            done += os.write(1, left[done:])
