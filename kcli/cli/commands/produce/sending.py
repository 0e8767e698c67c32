"""One run of `kcli produce`: what was read, handed to the producer, and what became of it.

Every record that was read ends in one of four counts: acknowledged, failed, unknown (sent, and no answer says
whether it arrived) and not sent. They add up to the records read, also after Ctrl-C (D45).
"""

from __future__ import annotations

import os
from functools import partial

from kcli import codes
from kcli.cli.commands.produce.input.source import Source, after_lines, records_of
from kcli.cli.commands.produce.rows import Rows
from kcli.cli.output.progress import Progress
from kcli.cli.output.text import records
from kcli.cli.runtime.signals import INTERRUPTED
from kcli.errors import BrokerError, KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from kcli.cli.commands.produce.input.envelopes import EnvelopeSending
    from kcli.cli.commands.produce.plan import Plan
    from kcli.cli.commands.produce.prompt import Prompt
    from kcli.cli.output.records.envelope import BadLine, Row
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
        self.prompt: Prompt | None = None  # where someone types the records
        self.named = False  # whether a terminal reads where each record was stored
        self.stored: dict[int, tuple[int, int]] = {}  # first and last offset by partition, where a terminal shows them
        self._make = Rows(plan)
        self._tick: Callable[[], None] = lambda: None  # shows the progress
        self._unsent = 0  # bytes of a block that wait for --rate
        self._envelopes: EnvelopeSending | None = None
        if plan.input in ("json", "envelope", "kcat"):
            from kcli.cli.commands.produce.input.envelopes import EnvelopeSending, in_columns

            self._envelopes = EnvelopeSending(plan, producer, self._count_read) if in_columns(plan) else None
        producer.on_batch = self.settled

    def _count_read(self, rows: int) -> None:
        self.read += rows

    def settled(self, outcome: BatchOutcome) -> None:
        if self.report is not None:
            self.report.add(outcome)
        if outcome.error is not None and self.error is None:
            self.error = outcome.error
        if outcome.error is None and outcome.base_offset >= 0:
            last = outcome.base_offset + outcome.count - 1
            first, latest = self.stored.get(outcome.partition, (outcome.base_offset, last))
            self.stored[outcome.partition] = min(first, outcome.base_offset), max(latest, last)
        if self.prompt is not None or self.named:
            from kcli.cli.commands.produce.prompt import stored

            sentence = stored(outcome)
            if sentence is not None:
                (say if self.prompt is None else self.prompt.tell)(sentence)

    async def everything(self) -> None:
        """Read all input and hand it to the producer. Stops at the first batch that failed."""
        plan = self.plan
        if plan.given:
            await self._given()
            return
        sources = [Source(path, unpack=plan.unpack and not plan.whole) for path in plan.paths or ["-"]]
        sizes = [source.size for source in sources]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        hidden = plan.connection.quiet or self.prompt is not None
        progress = Progress(f"produce {plan.topic}", total, unit="records" if total is None else "bytes", hidden=hidden)
        self._tick = lambda: progress.at(
            self.read if total is None else max(sum(source.taken for source in sources) - self._unsent, 0)
        )
        try:
            read = self._whole if plan.whole else self._json_values if plan.input == "json-values" else self._blocks
            for source in sources:
                async for _ in read(source):
                    self._unsent = 0
                    self._tick()
                    if self.error is not None and not plan.skip:
                        return
        finally:
            progress.close()
            for source in sources:
                source.close()

    async def _given(self) -> None:
        """The records of the command line itself."""
        plan, rows = self.plan, self._make.given()
        if not plan.fill:
            await self._rows(rows)
            return
        from kcli.cli.commands.produce.filling import STEP, filled

        progress = Progress(f"produce {plan.topic}", plan.repeat * len(rows), hidden=plan.connection.quiet)
        try:
            for step in filled(rows, plan.repeat, STEP if plan.rate_limit is None else plan.rate_limit.step):
                await self._rows(step)
                progress.at(self.read)
                if self.error is not None and not plan.skip:
                    return
        finally:
            progress.close()

    async def _blocks(self, source: Source) -> AsyncIterator[None]:
        """Send the records of an input, as many at once as a chunk of it has; one at a time where someone types."""
        plan, line, prompt = self.plan, 0, self.prompt
        if prompt is not None:
            await self.topic_exists()
            prompt.ask()
        try:
            async for buffer, end in source.blocks(plan.delimiter, plan.settings.max_request_size):
                line = await self._block(source.name, buffer, end, line)
                if prompt is not None:
                    await self._settle_typed()
                yield
                if prompt is not None:
                    prompt.ask()
        finally:
            if prompt is not None:
                prompt.end()

    async def _settle_typed(self) -> None:
        """Show where what was typed is stored, before the next prompt."""
        await self.producer.flush()

    async def _json_values(self, source: Source) -> AsyncIterator[None]:
        from kcli.cli.commands.produce.input.json_values import rows_of

        async for rows in rows_of(source, self._make, self.plan.settings.max_request_size):
            await self._rows(rows)
            yield

    async def _whole(self, source: Source) -> AsyncIterator[None]:
        value = await source.everything(self.plan.settings.max_request_size)
        try:
            row = self._make.row(None, value)
        except ValueError as problem:
            raise KcliError(f"{source.name} {problem}") from None
        await self._rows([row])
        yield

    async def topic_exists(self) -> None:
        """Look the topic up where nothing was read: a wrong name is an error all the same. Raises
        BrokerError."""
        if self.cluster is not None and not self.skipped:
            await self.producer.partitions(self.plan.topic)

    async def announce_wait(self) -> None:
        """With --wait-for-topic: say that the topic does not exist yet, and how long it is waited for."""
        settings, topic = self.plan.settings, self.plan.topic
        if not settings.wait_for_topic or self.cluster is None:
            return
        try:
            await self.cluster.partitions(topic)
        except BrokerError as problem:
            if problem.code is codes.UNKNOWN_TOPIC_OR_PARTITION and not self.plan.connection.quiet:
                say(f"{topic}: this topic does not exist yet; waiting up to {settings.max_block:g} s for it")

    async def _block(self, name: str, buffer: bytearray, end: int, line: int) -> int:
        """Whole records of one block; returns the number of lines up to here."""
        plan = self.plan
        if self._envelopes is not None and self.prompt is None:
            return await self._envelopes.block(buffer, end, line, partial(self._parsed, name))
        if not plan.plain or self._lacks_key(buffer, end):
            return await self._parsed(name, records_of(buffer, 0, end, plan.delimiter), line)
        if plan.by_rows:
            pieces = records_of(buffer, 0, end, plan.delimiter)
            await self._rows([self._make.keyed(piece) for piece in pieces])
            return line + len(pieces)
        before, start = self.producer.counts.accepted, 0
        try:
            while start < end:
                stop = end
                if plan.rate_limit is not None:
                    stop = after_lines(buffer, start, end, plan.delimiter, plan.rate_limit.step)
                    await plan.rate_limit.wait(buffer.count(plan.delimiter, start, stop))
                    self._unsent = end - start
                    self._tick()
                await self._lines(buffer, start, stop)
                start = stop
        except BaseException:
            # what of this block was not accepted was read all the same; only now does it have to be counted
            self.read += buffer.count(plan.delimiter, 0, end)
            raise
        self.read += (count := self.producer.counts.accepted - before)
        return line + count

    def _lacks_key(self, buffer: bytearray, end: int) -> bool:
        """Whether a line may have no -K."""
        plan = self.plan
        if plan.key_delimiter is None or plan.key is not None:
            return False
        if plan.by_rows:
            return True
        from kcli.proto.core import unkeyed

        return unkeyed(buffer, 0, end, plan.delimiter[0], plan.key_delimiter) < end

    async def _lines(self, buffer: bytearray, start: int, end: int) -> None:
        """Whole lines, without a step for each."""
        plan, step = self.plan, KEYED_STEP if self.plan.key_delimiter is not None else end - start
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

    async def _parsed(self, name: str, pieces: list[bytes], line: int) -> int:
        """Lines that may be no record: lines of consume, templates, JSON to pack, keys and values."""
        from kcli.cli.output.records.envelope import BadLine

        plan, read = self.plan, self._make.reader()
        if plan.encoding is not None and plan.encoding.from_record is not None:
            await plan.encoding.from_record.learn(pieces)
        blank = plan.template is None and not plan.plain and not (plan.nulls and plan.input == "lines")
        rows: list[Row] = []
        wrong: BadLine | None = None
        for piece in pieces:
            line += 1
            if blank and not piece.strip():
                continue
            try:
                try:
                    rows.append(read(piece, line))
                except ValueError as problem:
                    raise BadLine(line, str(problem)) from None
            except BadLine as problem:
                if plan.skip or self.prompt is not None:  # a line that is typed can be typed again
                    self._skip(name, problem)
                    continue
                wrong = problem
                break
        await self._rows(rows)
        if wrong is not None:
            raise KcliError(f"{name}: {wrong}; no record after it was sent")
        return line

    def _skip(self, name: str, problem: BadLine) -> None:
        if self.prompt is not None:
            self.prompt.tell(f"not stored: {problem}")
        else:
            self.skipped += 1
            say(f"{name}: {problem}; skipped")

    async def _rows(self, rows: Sequence[Row]) -> None:
        self.read += len(rows)
        rate_limit = self.plan.rate_limit
        step = len(rows) if rate_limit is None else rate_limit.step
        for start in range(0, len(rows), max(step, 1)):
            part = rows[start : start + step]
            if rate_limit is not None:
                await rate_limit.wait(len(part))
                self._tick()
            await self.producer.send_records(self.plan.topic, part)

    def summary(self) -> str:
        counts = self.producer.counts
        unknown = counts.unknown + self.producer.unanswered  # of what is given up now some may be stored all the same
        parts = f"{counts.acked} acknowledged, {counts.failed} failed, {unknown} unknown"
        settled = counts.acked + counts.failed + unknown
        skipped = f", {self.skipped} line{'s' * (self.skipped != 1)} skipped" if self.skipped else ""
        return f"{records(self.read)} read: {parts}, {self.read - settled} not sent{skipped}"


async def send(sending: Sending, stop: Stop) -> int:
    """Read, flush, say what became of it."""
    stop.last_words = lambda: say(f"stopped: {sending.summary()}")
    problem: KcliError | OSError | None = None
    try:
        await stop.unless(sending.announce_wait())
        if not stop.asked:
            await stop.unless(sending.everything())
        if not stop.asked:
            await stop.unless(sending.producer.flush() if sending.read else sending.topic_exists())
    except (KcliError, OSError) as raised:
        problem = raised
    if stop.asked or problem is not None:
        left = await sending.producer.flush(PATIENCE)
        if left:
            again = "Ctrl-C again" if stop.asked else "Ctrl-C twice"
            say(f"waiting for responses to {records(left)}; {again} stops at once")
            await sending.producer.flush(FLUSH_AFTER_INTERRUPT)
    problem = problem or sending.error
    if not stop.asked:
        problem = await explained(sending, problem)
    return report(sending, stop, problem, sending.producer.counts.acked)


async def explained(sending: Sending, problem: KcliError | OSError | None) -> KcliError | OSError | None:
    """The problem; for a topic that does not exist with the names that are like it."""
    unknown = isinstance(problem, BrokerError) and problem.code is codes.UNKNOWN_TOPIC_OR_PARTITION
    if not unknown or sending.cluster is None or sending.plan.settings.wait_for_topic:
        return problem
    from kcli.cli.commands.consume.selection import no_such_topic

    return await no_such_topic(sending.cluster, sending.plan.topic)


def report(sending: Sending, stop: Stop, problem: KcliError | OSError | None, written: int) -> int:
    """Print the problem and the summary; with --verbose the summary of a success, too. Returns the exit code."""
    if stop.asked:
        say(f"interrupted: {sending.summary()}")
        return INTERRUPTED
    if problem is None and written == sending.read and not sending.skipped:
        if sending.plan.connection.verbose:
            say(sending.summary())
        elif sending.stored and os.isatty(2) and not (sending.prompt or sending.named or sending.plan.connection.quiet):
            from kcli.cli.commands.produce.prompt import places

            say(f"{records(written)} written: {places(sending.stored)}")
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
