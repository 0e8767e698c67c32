"""What may happen to topics under a query: partitions came, are gone, or lost their last records.

Each is reported before anything is read, as after it the query would continue without records that it never read.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.log import Log
from kcli.pipeline.source.fetching import DataLoss, LogChanged

Offsets = dict[TopicPartition, int]

PATIENCE, EVERY = 5.0, 0.25
"""Seconds for which a log may end earlier, as a new leader may know less for a moment; how often it is asked."""


def came(log: Log, new: Iterable[TopicPartition], *, later: bool, fail: bool) -> Offsets:
    """Where the logs of new partitions start: they are read from there. `later`: the query had others before, so these
    must not have lost records. Raises DataLoss unless `fail` is off."""
    firsts = log.earliest(new)
    lost = [at for at, first in firsts.items() if first > 0]
    if lost and later:
        at = lost[0]
        text = f"the new partition {at.topic}[{at.partition}] starts at {firsts[at]}: records before it are gone"
        if fail:
            raise DataLoss(f"{text}; failOnDataLoss=false reads what is left")
        print(f"kcli: {text} (failOnDataLoss=false)", file=sys.stderr)
    return firsts


def gone(missing: Iterable[TopicPartition]) -> None:
    """Raise KcliError for a partition that was read and is not among those that are meant."""
    at = next(iter(missing), None)
    if at is not None:
        raise KcliError(
            f"{at.topic}[{at.partition}] was read by this query and is not there any more: its topic was deleted "
            "or recreated, or the options name other topics; a new query needs a new checkpoint"
        )


def cut(log: Log, known: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> None:
    """Raise LogChanged where a log ends before what was read of it: what is written there now would be passed over. An
    end that waits for a transaction is no such end."""
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
