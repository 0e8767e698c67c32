"""`kcli produce`: lines, files, values or envelopes in; exit 0 only if every record was acknowledged (R1).

Every record that was read ends in one of four counts: acknowledged, failed, unknown (sent, and no answer says
whether it arrived) and not sent. They add up to the records read, also after Ctrl-C (D45).
"""

from __future__ import annotations

from kcli import codes
from kcli.cli.commands.produce.source import Source
from kcli.cli.output import text
from kcli.cli.output.progress import Progress
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.signals import INTERRUPTED, Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.errors import BrokerError, KcliError, UsageError
from kcli.settings import ProducerSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.cli.output.envelope import Row
    from kcli.cli.output.report import Report
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster
    from kcli.producer.producer import BatchOutcome, Producer

PATIENCE = 0.5  # seconds of silence after Ctrl-C
KEYED_STEP = 1 << 18  # bytes of keyed lines handed over at once: the producer makes room for all of them together
FLUSH_AFTER_INTERRUPT = 10.0  # seconds that the first Ctrl-C gives what was already accepted


class Plan:
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        self.connection = Connection(values)
        words = list(values["words"] or [])
        topics = list(values["topics"])
        if len(topics) > 1:
            raise UsageError("produce writes to one topic")
        if not topics and not words:
            raise UsageError("produce to which topic? kcli produce TOPIC")
        self.topic: str = topics[0] if topics else words.pop(0)
        self.paths: list[str] = words
        self.values: list[bytes] = [text.argument_bytes(value) for value in values["values"]]
        self.whole: bool = values["whole"]
        self.input: str = values["input"] or "lines"
        self.delimiter = text.delimiter(values["delimiter"], "-D", b"\n") or b"\n"
        self.key_delimiter = text.delimiter(values["key_delimiter"], "-K")
        self.key = None if values["key"] is None else text.argument_bytes(values["key"])
        self.headers = text.headers(values["headers"])
        self.nulls: bool = values["nulls"]
        self.partition: int | None = None if values["partition"] in (None, -1) else values["partition"]
        self.by_key: bool = values["partition"] == -1
        self.timestamp = _timestamp(values["timestamp"])
        self.skip: bool = values["on_error"] == "skip"
        self.report: str | None = values["report"]
        self.batch: int = values["batch"] or 0  # records of a transaction, 0 for all of them
        self.by_rows = (
            self.input != "lines"
            or bool(self.headers)
            or len(self.delimiter) > 1
            or (self.key is not None and self.key_delimiter is not None)
        )
        self.settings = self._settings(values)
        self._check(values)
        for name, value in self.headers:
            if value is None and ":" in name and not self.connection.quiet:  # as rpk and kaf have it
                say(f"-H {name}: a header of that name, without a value; -H {name.replace(':', '=', 1)} gives it one")

    def _settings(self, values: Values) -> ProducerSettings:
        changes = dict(self.connection.properties.producer)
        if values["compression"] is not None:
            changes["compression"], changes["compression_level"] = text.codec(values["compression"])
        if values["acks"] is not None:
            changes["acks"] = {"all": -1, "-1": -1, "1": 1, "0": 0}[values["acks"]]
        if values["transactional_id"] is not None:
            changes["transactional_id"] = values["transactional_id"]
        if changes.get("acks", -1) != -1:
            if changes.get("idempotence"):
                raise UsageError("enable.idempotence=true needs acks=all")
            changes["idempotence"] = False
        made = ProducerSettings(**changes).patient("max_block" in changes)
        if made.compression_level is not None:
            text.check_level(made.compression, made.compression_level, f"compression.level={made.compression_level}")
        return made

    def _check(self, values: Values) -> None:
        if self.values and (self.paths or self.whole or self.input != "lines"):
            raise UsageError("--value takes no files, --whole or --input")
        if self.input != "lines":
            for name, flag in (("delimiter", "-D"), ("key_delimiter", "-K"), ("key", "-k"), ("whole", "--whole")):
                if values[name]:
                    raise UsageError(f"--input {self.input} says it all: {flag} does not go with it")
        if self.batch and self.settings.transactional_id is None:
            raise UsageError("--batch is the size of a transaction: it needs --transactional-id")
        if self.whole and self.key_delimiter:
            raise UsageError("--whole takes no -K: nothing is split")


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
        from kcli.cli.output.envelope import BadLine, read_line

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
            key, found, value = piece.partition(delimiter)
            if found:
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
        return f"{text.records(self.read)} read: {parts}, {self.read - settled} not sent{skipped}"


def run(values: Values) -> int:
    """Produce. Returns the exit code."""
    plan = Plan(values)
    return run_loop(lambda stop: _produce(plan, stop))


async def _produce(plan: Plan, stop: Stop) -> int:
    from kcli.client import Client

    report = None
    if plan.report is not None:
        from kcli.cli.output.report import Report

        report = Report(plan.report)
    try:
        async with Client(plan.connection.client()) as client:
            tell_outages(client.cluster, quiet=plan.connection.quiet)
            producer = client.producer(plan.settings)
            await producer.start()
            try:
                if plan.settings.transactional_id is not None:
                    from kcli.cli.commands.produce import transactions

                    sending = transactions.TransactionalSending(plan, producer, report, client.cluster)
                    code = await transactions.send(sending, stop)
                else:
                    code = await _send(Sending(plan, producer, report, client.cluster), stop)
            finally:
                await producer.close(0)
    finally:
        if report is not None:
            report.close()
    if report is None or report.problem is None:
        return code
    say(str(report.problem))
    return code or report.problem.exit_code


async def _send(sending: Sending, stop: Stop) -> int:
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
            say(f"waiting for the answers to {text.records(left)}; {again} stops at once")
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
        from kcli.cli.main import sentence

        say(sentence(problem))
    if sending.read or sending.skipped:
        say(sending.summary())
    return problem.exit_code if isinstance(problem, KcliError) else 1


def _timestamp(given: str | None) -> int | None:
    if given is None:
        return None
    from time import time

    from kcli.grammar.offsets import read_time

    found = read_time(given, int(time() * 1000))
    if found is None:
        raise UsageError(f"--timestamp {given}: expected epoch seconds or milliseconds, ISO 8601, -1h or now")
    return found


def say(sentence: str) -> None:
    from kcli.cli.main import complain

    complain(sentence)
