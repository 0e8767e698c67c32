"""One run of `kcli produce`: what was read, handed to the producer, and what became of it.

Every record that was read ends in one of four counts: acknowledged, failed, unknown (sent, and no answer says
whether it arrived) and not sent. They add up to the records read, also after Ctrl-C (D45).
"""

from __future__ import annotations

from kcli import codes
from kcli.cli.commands.produce.source import Source
from kcli.cli.output.progress import Progress
from kcli.cli.output.text import records
from kcli.cli.runtime.signals import INTERRUPTED
from kcli.errors import BrokerError, KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.cli.commands.produce.plan import Plan
    from kcli.cli.output.records.envelope import Row
    from kcli.cli.output.report import Report
    from kcli.cli.runtime.signals import Stop
    from kcli.model import Cluster
    from kcli.producer.producer import BatchOutcome, Producer

PATIENCE = 0.5  # seconds of silence after Ctrl-C
KEYED_STEP = 1 << 18  # bytes of keyed lines handed over at once: the producer makes room for all of them together
FLUSH_AFTER_INTERRUPT = 10.0  # seconds that the first Ctrl-C gives what was already accepted


class Sending:
    """The state of one run: what was read, and what became of it."""

    def __init__(self, plan: Plan, producer: Producer, report: Report | None, cluster: Cluster | None = None) -> None:
        self.plan = plan
        self.cluster = cluster
        self.producer = producer
        self.report = report
        self.read = 0
        self.skipped = 0
        self.error: KcliError | None = None
        producer.on_batch = self.settled

    def settled(self, outcome: BatchOutcome) -> None:
        if self.report is not None:
            self.report.add(outcome)
        if outcome.error is not None and self.error is None:
            self.error = outcome.error

    async def everything(self) -> None:
        """Read all input and hand it to the producer. Stops at the first batch that failed."""
        plan = self.plan
        if plan.values:
            await self._rows([self._row(None, value) for value in plan.values])
            return
        done = 0
        sources = [Source(path) for path in plan.paths or ["-"]]
        sizes = [source.size for source in sources]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        progress = Progress(f"produce {plan.topic}", total, bytes_=True, hidden=plan.connection.quiet)
        try:
            for source in sources:
                if plan.whole:
                    await self._rows([self._row(None, await source.everything(plan.settings.max_request_size))])
                    continue
                line = 0
                async for buffer, end in source.blocks(plan.delimiter, plan.settings.max_request_size):
                    line = await self._block(source.name, buffer, end, line)
                    done += end
                    progress.at(done)
                    if self.error is not None and not plan.skip:
                        return
        finally:
            progress.close()
            for source in sources:
                source.close()

    async def topic_exists(self) -> None:
        """Nothing was read, so nobody has asked for the topic: a wrong name is an error all the same. Raises
        BrokerError."""
        if self.cluster is not None and not self.skipped:
            await self.cluster.partitions(self.plan.topic)

    async def _block(self, name: str, buffer: bytearray, end: int, line: int) -> int:
        """Whole records of one block; returns how many lines the input has had so far."""
        plan = self.plan
        if plan.input != "lines":
            return await self._envelopes(name, bytes(buffer[:end]), line)
        if plan.by_rows:
            pieces = bytes(buffer[: end - len(plan.delimiter)]).split(plan.delimiter)
            await self._rows([self._keyed(piece) for piece in pieces])
            return line + len(pieces)
        start, step = 0, KEYED_STEP if plan.key_delimiter is not None else end
        before = self.producer.counts.accepted
        try:
            while start < end:
                taken = await self.producer.send_lines(
                    plan.topic,
                    buffer,
                    start,
                    min(start + step, end),
                    delimiter=plan.delimiter[0],
                    key_delimiter=plan.key_delimiter,
                    key=plan.key,
                    partition=plan.partition,
                    timestamp=plan.timestamp,
                    empty_is_null=plan.nulls,
                )
                if taken == start:
                    step *= 2  # no whole line in it
                start = taken
        except BaseException:
            # what of this block was not accepted was read all the same; only now does it have to be counted
            self.read += buffer.count(plan.delimiter, 0, end)
            raise
        self.read += (count := self.producer.counts.accepted - before)
        return line + count

    async def _envelopes(self, name: str, block: bytes, line: int) -> int:
        from kcli.cli.output.records.envelope import BadLine, read_line

        plan = self.plan
        rows: list[Row] = []
        wrong: BadLine | None = None
        for piece in block.split(b"\n")[:-1]:
            line += 1
            if not piece.strip():
                continue
            try:
                partition, timestamp, key, value, headers = read_line(piece, line, plan.input == "kcat" or None)
            except BadLine as problem:
                if plan.skip:
                    self.skipped += 1
                    say(f"{name}: {problem}; skipped")
                    continue
                wrong = problem
                break
            if plan.by_key or plan.partition is not None:
                partition = plan.partition
            if plan.timestamp is not None:
                timestamp = plan.timestamp
            if plan.nulls:
                key, value = key or None, value or None
            rows.append((partition, timestamp, key, value, [*headers, *plan.headers]))
        await self._rows(rows)
        if wrong is not None:
            raise KcliError(f"{name}: {wrong}; nothing after it was sent")
        return line

    async def _rows(self, rows: Sequence[Row]) -> None:
        if rows:
            self.read += len(rows)
            await self.producer.send_records(self.plan.topic, rows)

    def _keyed(self, piece: bytes) -> Row:
        """A line with the general way's options; a key in the line beats -k."""
        delimiter = self.plan.key_delimiter
        if delimiter is not None:
            key, separator, value = piece.partition(delimiter)
            if separator:
                return self._row(key, value)
        return self._row(None, piece)

    def _row(self, key: bytes | None, value: bytes) -> Row:
        plan = self.plan
        key = plan.key if key is None else key
        if plan.nulls:
            return (plan.partition, plan.timestamp, key or None, value or None, plan.headers)
        return (plan.partition, plan.timestamp, key, value, plan.headers)

    def summary(self) -> str:
        counts = self.producer.counts
        unknown = counts.unknown + self.producer.unanswered  # of what is given up now some may be stored all the same
        parts = f"{counts.acked} acknowledged, {counts.failed} failed, {unknown} unknown"
        settled = counts.acked + counts.failed + unknown
        skipped = f", {self.skipped} lines skipped" if self.skipped else ""
        return f"{records(self.read)} read: {parts}, {self.read - settled} not sent{skipped}"


async def send(sending: Sending, stop: Stop) -> int:
    """Read, flush, say what became of it."""
    stop.last_words = lambda: say(f"stopped: {sending.summary()}")
    problem: KcliError | OSError | None = None
    try:
        await stop.unless(sending.everything())
        if not stop.asked:
            await stop.unless(sending.producer.flush() if sending.read else sending.topic_exists())
    except (KcliError, OSError) as raised:
        problem = raised
    if stop.asked or problem is not None:
        left = await sending.producer.flush(PATIENCE)
        if left:
            again = "Ctrl-C again" if stop.asked else "Ctrl-C twice"
            say(f"waiting for the answers to {records(left)}; {again} stops at once")
            await sending.producer.flush(FLUSH_AFTER_INTERRUPT)
    problem = problem or sending.error
    return _verdict(sending, stop, problem if stop.asked else await explained(sending, problem))


async def explained(sending: Sending, problem: KcliError | OSError | None) -> KcliError | OSError | None:
    """The problem; for a topic that does not exist with the names that are like it."""
    unknown = isinstance(problem, BrokerError) and problem.code is codes.UNKNOWN_TOPIC_OR_PARTITION
    if not unknown or sending.cluster is None:
        return problem
    from kcli.cli.commands.consume.selection import no_such_topic

    return await no_such_topic(sending.cluster, sending.plan.topic)


def _verdict(sending: Sending, stop: Stop, problem: KcliError | OSError | None) -> int:
    counts = sending.producer.counts
    complete = counts.acked == sending.read and not sending.skipped and problem is None
    if stop.asked:
        say(f"interrupted: {sending.summary()}")
        return INTERRUPTED
    if complete:
        if sending.plan.connection.verbose:
            say(sending.summary())
        return 0
    if problem is not None:
        from kcli.cli.output.messages import sentence

        say(sentence(problem))
    if sending.read or sending.skipped:
        say(sending.summary())
    return problem.exit_code if isinstance(problem, KcliError) else 1


def say(sentence: str) -> None:
    from kcli.cli.output.messages import complain

    complain(sentence)
