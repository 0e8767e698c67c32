"""`kcli produce --transactional-id ID`: the input as one transaction, or as one for every --batch N records.

Nothing uncommitted is reported as sent: a record counts as committed when its transaction is, and the batches of a
transaction are in the report once it has ended. Ctrl-C and errors abort what is open (D45).
"""

from __future__ import annotations

import asyncio

from kcli.cli.commands.produce.input.source import after_lines
from kcli.cli.commands.produce.sending import FLUSH_AFTER_INTERRUPT, PATIENCE, Sending, explained, report, say
from kcli.cli.output import text
from kcli.errors import KcliError, UnknownOutcome
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.transactions.state import Fenced
from kcli.tasks import shielded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.cli.commands.produce.plan import Plan
    from kcli.cli.output.records.envelope import Row
    from kcli.cli.output.report import Report
    from kcli.cli.runtime.signals import Stop
    from kcli.model import Cluster
    from kcli.producer.producer import Producer


class TransactionalSending(Sending):
    """The records of the open transaction are those accepted since it began."""

    def __init__(self, plan: Plan, producer: Producer, report: Report | None, cluster: Cluster | None = None) -> None:
        super().__init__(plan, producer, report, cluster)
        self.transactions = self.committed = self.aborted = self.unknown = 0
        self._open = False
        self._before = 0  # records accepted before the open transaction
        self._ending: asyncio.Task[None] | None = None
        self._outcomes: list[BatchOutcome] = []  # of the open transaction, for the report

    @property
    def pending(self) -> int:
        """Records of the open transaction."""
        return self.producer.counts.accepted - self._before if self._open else 0

    def settled(self, outcome: BatchOutcome) -> None:
        if self.report is not None:
            self._outcomes.append(outcome)
        if outcome.error is not None and self.error is None:
            self.error = outcome.error

    async def _settle_typed(self) -> None:
        """Nothing that was typed is stored before the commit."""

    # -- input ------------------------------------------------------------------------------------------------------

    async def _block(self, name: str, buffer: bytearray, end: int, line: int) -> int:
        """As without transactions, a transaction's worth of lines at a time."""
        if self.plan.by_rows or not self.plan.batch:
            await self._begin()
            return await super()._block(name, buffer, end, line)
        start = stop = 0
        try:
            while start < end:
                await self._begin()
                stop = after_lines(buffer, start, end, self.plan.delimiter, self.plan.batch - self.pending)
                line = await super()._block(name, buffer[start:stop], stop - start, line)
                start = stop
                await self._commit_if_full()
        except BaseException:
            self.read += buffer.count(self.plan.delimiter, stop, end)
            raise
        return line

    async def _rows(self, rows: Sequence[Row]) -> None:
        start = stop = 0
        try:
            while start < len(rows):
                await self._begin()
                stop = min(len(rows), start + self.plan.batch - self.pending) if self.plan.batch else len(rows)
                await super()._rows(rows[start:stop])
                start = stop
                await self._commit_if_full()
        except BaseException:
            self.read += len(rows) - stop
            raise

    # -- transactions -----------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        if not self._open:
            await self.producer.begin()
            self._before = self.producer.counts.accepted
            self._open = True

    async def _commit_if_full(self) -> None:
        if self.plan.batch and self.pending >= self.plan.batch:
            await self.commit()

    async def commit(self) -> None:
        """Commit what is open. Cancelled, it leaves a commit that was asked for to `give_up`: its outcome counts."""
        if not self._open:
            return
        await self.producer.flush()
        self._ending = asyncio.ensure_future(self._commit())
        await shielded(self._ending)

    async def _commit(self) -> None:
        try:
            await self.producer.commit()
        except UnknownOutcome:
            self.unknown += self.pending
            self._ended("it is unknown whether its transaction was committed", unknown=True)
            raise
        self.committed += self.pending
        self.transactions += 1
        self._ended(None)

    async def give_up(self) -> None:
        """Wait for a commit that is under way, else abort what is open. Raises what the commit raises."""
        if self._ending is not None and not self._ending.done():
            await asyncio.wait({self._ending}, timeout=PATIENCE)
            if not self._ending.done():
                say("waiting for the response to the commit; Ctrl-C again stops at once")
            await self._ending
        if not self._open:
            return
        try:
            async with asyncio.timeout(FLUSH_AFTER_INTERRUPT):
                await self.producer.abort()
        except Fenced:
            pass  # whoever took over has ended it
        except (KcliError, TimeoutError) as problem:
            reason = str(problem) or "nobody answered"
            limit = self.plan.settings.transaction_timeout
            say(f"the abort failed: {reason}; the coordinator aborts it after at most {limit:g} s")
        self.aborted += self.pending
        self._ended("its transaction was aborted", unknown=False)

    def _ended(self, why: str | None, *, unknown: bool = False) -> None:
        """The open transaction is over: `why` its records do not count as sent, None if they do."""
        self._open = False
        outcomes, self._outcomes = self._outcomes, []
        if self.report is None:
            return
        for outcome in outcomes:
            if why is not None and (outcome.error is None or unknown):
                offset = outcome.base_offset if unknown else -1
                outcome = BatchOutcome(outcome.topic, outcome.partition, outcome.count, offset, KcliError(why), unknown)
            self.report.add(outcome)

    # -- what became of it ------------------------------------------------------------------------------------------

    def summary(self) -> str:
        pending = self.pending
        ending = self._ending is not None and not self._ending.done()
        unknown = self.unknown + (pending if ending else 0)
        aborted = self.aborted + (0 if ending else pending)
        kept = f"{self.committed} committed"
        if self.transactions > 1:
            kept += f" in {self.transactions} transactions"
        skipped = f", {self.skipped} lines skipped" if self.skipped else ""
        rest = self.read - self.committed - unknown - aborted
        return (
            f"{text.records(self.read)} read: {kept}, {aborted} aborted, {unknown} unknown, {max(rest, 0)} not sent"
            f"{skipped}"
        )


async def send(sending: TransactionalSending, stop: Stop) -> int:
    """Read, commit or abort, say what became of it. Returns the exit code."""
    stop.last_words = lambda: say(f"stopped: {sending.summary()}")
    problem: KcliError | OSError | None = None
    try:
        await stop.unless(sending.announce_wait())
        if not stop.asked:
            await stop.unless(sending.everything())
        if not stop.asked:
            if sending.error is not None:
                raise sending.error
            await stop.unless(sending.commit() if sending.read else sending.topic_exists())
    except (KcliError, OSError) as raised:
        problem = raised
    try:
        await sending.give_up()
    except KcliError as raised:
        problem = problem or raised
    if not stop.asked:
        problem = await explained(sending, problem)
    return report(sending, stop, problem, sending.committed)
