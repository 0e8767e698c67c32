"""The size of a micro-batch: a number of offsets, or of bytes, shared among partitions by their backlog."""

from __future__ import annotations

from collections.abc import Mapping

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.log import Log
from kcli.pipeline.source.sizes import Sizes, measured

Offsets = dict[TopicPartition, int]

USUAL = 1024.0
"""Bytes of a record where nothing can be measured."""


def by_rows(starts: Offsets, ends: Offsets, most: int) -> Offsets:
    """Ends that are `most` offsets away in all, each partition's share being that of its backlog, and at least one:
    a partition that waits is never skipped for ever."""
    waiting = {at: ends[at] - starts[at] for at in ends if ends[at] > starts[at]}
    total = sum(waiting.values())
    if total <= most:
        return ends
    limited = dict(ends)
    for at, size in waiting.items():
        share = most * size / total
        limited[at] = starts[at] + min(size, max(1, int(share)))
    return limited


def by_bytes(log: Log, starts: Offsets, ends: Offsets, most: int) -> Offsets:
    """The same for about `most` bytes, as they are in the log: a record's size is measured where reading resumes."""
    waiting = [at for at in ends if ends[at] > starts[at]]
    if not waiting:
        return ends
    sizes = sizes_of(log, starts, ends)
    total = sum((ends[at] - starts[at]) * sizes[at] for at in waiting)
    if total <= most:
        return ends
    share = most / total
    return ends | {at: starts[at] + max(1, int((ends[at] - starts[at]) * share)) for at in waiting}


def sizes_of(log: Log, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> Sizes:
    """Bytes per offset of every partition that has anything to read. It never fails: the read itself will say what is
    wrong."""
    settings = log.sealed.consumer.replace(reset="earliest")
    try:
        found = log.kafka.run(lambda client: measured(client, settings, starts, ends, patience=1.0))
    except KcliError:
        found = {}
    return {at: found.get(at, USUAL) for at in ends if ends[at] > starts[at]}
