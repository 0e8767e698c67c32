"""The stream reader. One instance exists on the driver for a query's life; tasks get copies that only read.

Offsets are JSON in the form of Spark's Kafka source, `{"topic": {"0": 123}}`, and are stored like that in the
checkpoint, with the ids of the cluster and the topics: another cluster, or a recreated topic, is refused. A checkpoint
without ids (of Spark's own source) is accepted. Spark calls `initialOffset` twice, never commits the last batch and
never calls `stop`: nothing here relies on either.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from kcli.admin.groups.commits import write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import KcliError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.pipeline import identity
from kcli.pipeline.connection import Sealed
from kcli.pipeline.log import Log
from kcli.pipeline.offset_options import KEY, from_offsets, to_json
from kcli.pipeline.options import ReadOptions
from kcli.pipeline.progress import tell
from kcli.pipeline.source.fetching import DataLoss, LogChanged
from kcli.pipeline.source.limits import by_bytes, by_rows
from kcli.pipeline.source.ranges import Range
from kcli.pipeline.source.read import Reading, in_log

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

    from kcli.pipeline.schemas.sealed import SealedSchemas

Offsets = dict[TopicPartition, int]

FRESH = 0.1
"""Seconds for which log ends are reused, because without data Spark asks every 10 ms. If requesting them takes longer,
as for 10,000 partitions, they are reused for as long as it took."""
REPORTED = 5.0
"""Seconds for which they are reused for the progress, if a batch does not request them."""
PATIENCE, EVERY = 5.0, 0.25
"""Seconds for which a log may end earlier, because a new leader may briefly know less, and the interval of checks."""


def check_new(log: Log, new: Iterable[TopicPartition], *, later: bool, fail: bool) -> Offsets:
    """Return where the logs of new partitions start, from which they are read. `later`: the query had other partitions
    before, so these must not have lost records. Raises DataLoss unless `fail` is off."""
    firsts = log.earliest(new)
    lost = [at for at, first in firsts.items() if first > 0]
    if lost and later:
        at = lost[0]
        text = f"the new partition {at.topic}[{at.partition}] starts at {firsts[at]}: records before it are gone"
        if fail:
            raise DataLoss(f"{text}; failOnDataLoss=false reads what is left")
        print(f"kcli: {text} (failOnDataLoss=false)", file=sys.stderr)
    return firsts


def check_missing(missing: Iterable[TopicPartition]) -> None:
    """Raise KcliError for a partition that was read and is no longer selected."""
    at = next(iter(missing), None)
    if at is not None:
        raise KcliError(
            f"{at.topic}[{at.partition}] was read by this query and is not there any more: its topic was deleted, or "
            "the options name other topics; failOnDataLoss=false reads on without it, and a new query takes a new "
            "checkpoint"
        )


def check_ends(log: Log, known: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> None:
    """Raise LogChanged if a log ends before what was read of it, because new records there would be skipped. An end
    that waits for a transaction does not count."""
    behind = [at for at, offset in known.items() if ends.get(at, offset) < offset]
    until = time.monotonic() + PATIENCE
    while behind:
        found = log.high_watermarks(behind)
        behind = [at for at in behind if found[at] < known[at]]
        if behind and time.monotonic() >= until:
            at = behind[0]
            raise LogChanged(
                f"{at.topic}[{at.partition}] ends at {found[at]}, and this query was at {known[at]}: its last records "
                "were lost (an unclean election), or the topic was recreated; start over with another checkpoint, or "
                "reset this one to the end, which continues with new records"
            )
        if behind:
            time.sleep(EVERY)


class StreamReader(Reading, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """spark.readStream."""

    def __init__(
        self,
        options: ReadOptions,
        sealed: Sealed,
        schema: StructType,
        schemas: Mapping[str, SealedSchemas] | None = None,
    ) -> None:
        super().__init__(options, sealed, schema, schemas)
        self._log: Log | None = None
        self._initial: dict[str, Any] | None = None
        self._ends: Offsets = {}
        self._identity: dict[str, Any] | None = None
        self._looked = float("-inf")
        self._took = 0.0
        self._target: Offsets | None = None
        self._served = float("-inf")  # not yet: the first batch does not wait, as in Spark's own source
        self._said: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("options", "sealed", "schema", "schemas")}

    @property
    def log(self) -> Log:
        if self._log is None:
            self._log = Log(self.sealed)
        return self._log

    # -- offsets ----------------------------------------------------------------------------------------------------

    def initialOffset(self) -> dict[str, Any]:
        """Return where a new query starts; a restarted one uses its checkpoint."""
        if self._initial is None:
            ats = self._meant()
            in_log(self.log, self.options, ats)
            self._initial = self._told(self.log.resolve(self.options.starting, ats, "startingOffsets"))
        return self._initial

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return the limit in the options; those that Spark has no class for are applied in `latestOffset`."""
        options = self.options
        if options.max_offsets is not None:
            return ReadMaxRows(options.max_offsets)
        if options.max_bytes is not None:
            return ReadMaxBytes(options.max_bytes)
        if options.min_offsets is not None:
            return ReadMinRows(options.min_offsets)
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Return the end of the next batch; `start` if there is none now."""
        options = self.options
        if options.stop_file and os.path.exists(options.stop_file):
            return start
        ends = self._known_ends()
        known = self._read_on(start, ends)
        starts = known | self._new_partitions(known, ends)
        given = dict(options.starting.each)  # a start after the end waits
        check_ends(self.log, {at: offset for at, offset in known.items() if given.get(at) != offset}, ends)
        ends = {at: max(ends.get(at, from_), from_) for at, from_ in starts.items()}
        if isinstance(limit, ReadAllAvailable):
            return self._told(ends)
        if self._too_little(starts, ends):
            return start
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else options.max_offsets
        if most is not None:
            ends = by_rows(starts, ends, most)
        size = limit.max_bytes if isinstance(limit, ReadMaxBytes) else options.max_bytes
        if size is not None:
            ends = by_bytes(self.log, starts, ends, size)
        if ends != starts:
            self._served = time.monotonic()
        return self._told(ends)

    def _too_little(self, starts: Offsets, ends: Offsets) -> bool:
        """Apply minOffsetsPerTrigger: wait for more, at most maxTriggerDelay since the previous batch. With
        AvailableNow everything is read."""
        least = self.options.min_offsets
        if least is None or self._target is not None:
            return False
        waiting = sum(ends[at] - starts[at] for at in ends)
        return waiting < least and time.monotonic() - self._served < self.options.max_delay

    def reportLatestOffset(self) -> dict[str, Any]:
        """Return the ends of the logs seen by the batch, for the lag in the progress. Spark calls it right after
        `latestOffset`."""
        if time.monotonic() - self._looked >= REPORTED:
            self._check()
        return to_json(self._ends)

    def prepareForTriggerAvailableNow(self) -> None:
        """Fix the current ends as the target."""
        self._looked = float("-inf")
        self._target = self._known_ends()

    def _known_ends(self) -> Offsets:
        if self._target is not None:
            return self._target
        if time.monotonic() - self._looked >= max(FRESH, self._took):
            self._check()
        return self._ends

    def _check(self) -> None:
        began = time.monotonic()
        self._ends = self.log.latest(self._meant())
        self._looked = time.monotonic()
        self._took = self._looked - began

    def _meant(self) -> list[TopicPartition]:
        """Return the partitions that the options currently select, and request the identity with them."""
        ats = self.log.partitions(self.options)
        self._identity = identity.identity_of(self.log, [at.topic for at in ats], asked=True)
        return ats

    def _told(self, offsets: Offsets) -> dict[str, Any]:
        """Return offsets in the checkpoint's form."""
        assert self._identity is not None
        return {**to_json(offsets), KEY: self._identity}

    def _read_on(self, start: dict[str, Any], ends: Offsets) -> Offsets:
        """Return the positions of the partitions that continue. Raises NotTheSame for offsets of another cluster, or of
        a recreated topic, and KcliError for a topic that no longer exists; with failOnDataLoss=false such topics are
        left out."""
        known = from_offsets(start)
        again = self._again(start)
        missing = [at for at in known if at not in ends and at.topic not in again]
        if missing and (self._target is not None or not self.options.fail_on_data_loss):
            missing = self._still_missing(missing)
        if self.options.fail_on_data_loss:
            check_missing(missing)
        for topic in sorted({at.topic for at in missing}):
            self._say(f"{topic} is not there any more: it was deleted, and what was not read of it is lost")
        gone = {*missing}
        return {at: offset for at, offset in known.items() if at not in gone and at.topic not in again}

    def _still_missing(self, missing: list[TopicPartition]) -> list[TopicPartition]:
        """Return those that remain missing: a broker may not know a topic yet, and some are newer than the fixed
        target."""
        until = time.monotonic() + (0.0 if self.options.fail_on_data_loss else PATIENCE)
        while missing:
            there = set(self.log.partitions(self.options))
            missing = [at for at in missing if at not in there]
            if time.monotonic() >= until:
                break
            time.sleep(EVERY)
        return missing

    def _again(self, offsets: dict[str, Any]) -> set[str]:
        """Return the recreated topics, whose offsets are other records. Raises NotTheSame for them, unless
        failOnDataLoss=false, and for offsets of another cluster."""
        if KEY not in offsets:
            return set()
        if self._identity is None:
            self._identity = identity.identity_of(self.log, {at.topic for at in from_offsets(offsets)})
        again = identity.check(
            offsets[KEY], self._identity, self.sealed.servers, lenient=not self.options.fail_on_data_loss
        )
        for topic in sorted(again):
            self._say(f"{topic} was deleted and created again: it is read from its beginning")
        return again

    def _say(self, sentence: str) -> None:
        """Log a sentence once."""
        if sentence not in self._said:
            self._said.add(sentence)
            said = f"{sentence} (failOnDataLoss=false)"
            print(f"kcli: {said}", file=sys.stderr)
            tell(self.options.progress, said)

    def _new_partitions(self, known: Offsets, ends: Offsets) -> Offsets:
        """Return partitions added since the query began, which are read from the start of their logs."""
        return self._firsts(known, [at for at in ends if at not in known])

    def _firsts(self, known: Offsets, new: list[TopicPartition]) -> Offsets:
        return check_new(self.log, new, later=bool(known), fail=self.options.fail_on_data_loss)

    # -- batches ----------------------------------------------------------------------------------------------------

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Range]:
        """Return a range per task. A replayed batch has the same end as before; a start after it means nothing
        to read."""
        # a repeated batch may be of topics that are gone since
        there = set(self._meant()) if not self.options.fail_on_data_loss else set()
        again, ends = self._again(end), from_offsets(end)
        if not self.options.fail_on_data_loss:
            lost = {at.topic for at in ends if at not in there}
            for topic in sorted(lost):
                self._say(f"{topic} is not there any more: it was deleted, and what was not read of it is lost")
            ends = {at: offset for at, offset in ends.items() if at in there and at.topic not in again}
        ids = [(offsets.get(KEY) or {}).get("topics", {}) for offsets in (start, end)]
        starts = {at: offset for at, offset in from_offsets(start).items() if same(at.topic, *ids)}
        new = [at for at in ends if at not in starts]
        starts |= self._firsts(starts, new) if new else {}
        return self.ranges(self.log, starts, ends)

    def commit(self, end: dict[str, Any]) -> None:
        """Spark has stored what is before `end`: commit it as a group's offsets for others to see. A failure is only
        logged, because the checkpoint decides."""
        if self.options.commit_group:
            try:
                commit(self.log, self.options.commit_group, from_offsets(end))
            except KcliError as problem:
                print(f"kcli: group {self.options.commit_group}: {problem}", file=sys.stderr)


def same(topic: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Whether the ids of a topic are not different."""
    return topic not in before or topic not in after or before[topic] == after[topic]


def commit(log: Log, group: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit the next offsets to read. Raises the first error of a partition."""

    async def ask(client: Client) -> Mapping[TopicPartition, bool | KcliError]:
        wanted = {at: OffsetAndMetadata(offset=offset) for at, offset in offsets.items()}
        return await write_commits(Coordinators(client.cluster), group, wanted)

    for outcome in log.kafka.run(ask).values():
        if isinstance(outcome, KcliError):
            raise outcome
