"""What -C and -G share: fetched batches to stdout until the count, the ends, a stop timestamp or a signal.

With -e a partition ends where it ended when reading began (kcat asks the broker again and again, and never stops on a
topic that is written faster than it reads).
"""

from __future__ import annotations

from kcli.cli.commands.cat.output.printer import CatPrinter
from kcli.cli.commands.cat.parsing.words import Fatal, say
from kcli.errors import DecodeError, KcliError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.cat.output.avro import AvroFields
    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.commands.consume.commits import Commits
    from kcli.cli.commands.consume.sink import Sink
    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched
    from kcli.proto.batch import Batch


class CatReading:
    """One run. `open` are the partitions that are still read; `ends` where each is to stop (-e), if it is known."""

    def __init__(
        self, line: CommandLine, client: Client, consumer: Consumer, sink: Sink, commits: Commits | None = None
    ) -> None:
        self.line = line
        self.cluster = client.cluster
        self.consumer = consumer
        self.sink = sink
        self.commits = commits
        self.avro: AvroFields | None = None
        if line.avro:
            from kcli.cli.commands.cat.output.avro import AvroFields

            self.avro = AvroFields(line.avro, client.schemas)
        self.printer = CatPrinter(line, self.avro, terminal=sink.terminal)
        self.left = line.count if line.count > 0 else -1
        self.open: set[TopicPartition] = set()
        self.ends: dict[TopicPartition, int] = {}
        self.over = False

    def at_end(self, at: TopicPartition, offset: int) -> None:
        """Report that a partition is at its end; with -e it is finished."""
        if self.line.to_end:
            self._close(at)
        self._say_end("end", at, offset)

    def finish(self) -> None:
        """Report the partitions that are at their end without a last record: their logs were cut (KIP-320), and
        the next position is behind the end."""
        for at in sorted(self.open):
            self.at_end(at, self.consumer.position(at) or self.ends[at])

    def _close(self, at: TopicPartition) -> None:
        self.open.discard(at)
        self.over = self.over or not self.open

    def _say_end(self, what: str, at: TopicPartition, offset: int) -> None:
        of = "of" if what == "end" else "for"
        more = ": exiting" if self.over else ""
        say(self.line.verbosity, 1, f"Reached {what} {of} topic {at.topic} [{at.partition}] at offset {offset}{more}")

    async def take(self, fetched: Fetched) -> None:
        """Write one partition's batches. Raises Fatal."""
        at = TopicPartition(fetched.topic, fetched.partition)
        if self.over or at not in self.open:
            if fetched.batches and self.commits is not None:
                self.commits.unread(at, fetched.batches[0].first)
            return
        position, stopped = fetched.next_offset, -1
        batches = fetched.batches
        if self.line.stop_time:
            batches, stopped = _before(batches, self.line.stop_time)
        if self.avro is not None:
            await self.avro.look_up(batches)
        try:
            following = self._print(at, batches)
            self.sink.holds = at, (following if following >= 0 else position) - 1
        except DecodeError as broken:
            raise Fatal(f"Topic {at.topic} [{at.partition}] error: {broken}") from None
        finally:
            if self.sink.buffer:
                self.over = not await self.sink.flush() or self.over
        if self.left == 0:
            position, self.over = following, True
        elif stopped >= 0:
            position = stopped
            self._close(at)
            self.consumer.pause(at)
            self._say_end("stop timestamp", at, stopped)
        if self.commits is not None:
            from kcli.model import OffsetAndMetadata

            epoch = fetched.batches[-1].leader_epoch if fetched.batches else -1
            self.commits.written(at, OffsetAndMetadata(position, epoch))
        if fetched.error is not None:
            raise Fatal(f"Topic {at.topic} [{at.partition}] error: {fetched.error}")
        if self.left != 0 and stopped < 0:
            end = self.ends.get(at, fetched.last_stable_offset if fetched.last_stable_offset >= 0 else None)
            if end is not None and position >= end:
                self.at_end(at, position)

    def _print(self, at: TopicPartition, batches: list[Batch]) -> int:
        """Put them into the sink's buffer, as many as are wanted; the offset after the last."""
        buffer, done, following = self.sink.buffer, 0, -1
        if self.left < 0 and not self.line.unbuffered:
            _, done = self.printer.put_many(buffer, batches)
        broker = self.cluster.leader_id(at) if self.line.json else -1
        for batch in batches[done:]:
            if self.left == 0:
                break
            written, following = self.printer.put(buffer, batch, at.topic, at.partition, broker, self.left)
            self.left -= written if self.left > 0 else 0
        return following


def _before(batches: list[Batch], moment: int) -> tuple[list[Batch], int]:
    """The records before the first that is not before a moment, and its offset; -1 without such a record."""
    for number, batch in enumerate(batches):
        if batch.max_timestamp < moment:
            continue
        columns = batch.columns()
        for offset, timestamp in zip(columns.offsets, columns.timestamps):
            if timestamp >= moment:
                kept = [batch.window(batch.first, offset)] if offset > batch.first else []
                return [*batches[:number], *kept], offset
    return batches, -1


def words_of(problem: KcliError) -> str:
    """An error of the cluster in librdkafka's words, where it has some for it."""
    from kcli.cli.commands.cat.parsing.words import broker_words
    from kcli.errors import BrokerError

    return broker_words(problem.code.number, str(problem)) if isinstance(problem, BrokerError) else str(problem)
