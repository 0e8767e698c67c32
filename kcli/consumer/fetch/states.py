"""Describes why a partition is or is not being fetched."""

from __future__ import annotations

from kcli.consumer.fetch.cursor import FAILED, RESOLVING, VALIDATING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from kcli.consumer.fetch.cursor import Cursor
    from kcli.consumer.fetch.reader import Reader
    from kcli.model import TopicPartition
else:
    from kcli.values import NamedTuple


class FetchState(NamedTuple):
    """`state` is one of `STATES`; `node_id` the broker to fetch from, -1 if unknown; `seconds` until the next attempt,
    0 if it is in progress or none is pending; `reason` the last error, or what is awaited."""

    state: str
    node_id: int
    seconds: float
    reason: str


FETCHING = "fetching"
ENDED = "ended"
FULL = "full"
STATES = {
    FETCHING: "it is in the requests to its broker",
    ENDED: "it is fetched up to the end of `stop_at`",
    "paused": "`pause` was called for it or its topic",
    "rebalancing": "it is being revoked, or an assignment callback has not returned",
    "failed": "its error was raised or will be; `seek` resumes reading",
    "no leader": "the cluster names no leader",
    "backing off": "the last attempt failed; the next one is in `seconds`",
    "resolving": "its start offset is looked up",
    "validating": "kcli is checking whether the new leader has the records already read (KIP-320)",
    "throttled": "the broker requested a pause of more than a minute (quota)",
    FULL: "fetched records of its broker fill the buffer until they are polled",
}


def states_of(reader: Reader, now: float) -> dict[TopicPartition, FetchState]:
    """Return the states of all partitions at the loop time `now`."""
    held = sum(cursor.buffered for cursor in reader.cursors.values())
    silences = reader.cluster.silencing()
    return {at: _state_of(reader, cursor, now, held, silences) for at, cursor in reader.cursors.items()}


def _state_of(reader: Reader, cursor: Cursor, now: float, held: int, silences: dict[int, float]) -> FetchState:
    node = cursor.replica if cursor.replica >= 0 and now < cursor.replica_until else reader.cluster.leader_id(cursor.at)
    wait = max(0.0, cursor.retry_at - now)
    state, reason = _held_by_us(reader, cursor) or _held_by_cluster(reader, cursor, node, silences)
    if state == FULL:
        reason = f"{held} bytes wait for a poll"
    return FetchState(state, node, wait if reason and reason == cursor.trouble else 0.0, reason)


def _held_by_us(reader: Reader, cursor: Cursor) -> tuple[str, str] | None:
    """Return the state if the program or its group holds the partition back."""
    if cursor.state == FAILED:
        return "failed", cursor.trouble
    if cursor.paused:
        by_topic = cursor.at.topic in reader.paused_topics
        return "paused", "its topic is paused" if by_topic and not cursor.paused_alone else ""
    if cursor.pending_revoke or cursor.pending_assign:
        return "rebalancing", "it is being revoked" if cursor.pending_revoke else "on_assigned has not returned"
    if cursor.end is not None and cursor.fetch_at >= cursor.end:
        return ENDED, ""
    return None


def _held_by_cluster(reader: Reader, cursor: Cursor, node: int, silences: dict[int, float]) -> tuple[str, str]:
    if node < 0 and (cursor.state != RESOLVING or cursor.trouble):
        return "no leader", cursor.trouble
    if cursor.state == VALIDATING:
        return "validating", cursor.trouble
    if cursor.trouble:
        return "backing off", cursor.trouble
    if cursor.state == RESOLVING:
        return "resolving", ""
    silence = silences.get(node, 0.0)
    if silence:
        return "throttled", f"broker {node} requested a pause of {silence:.0f} s"
    fetcher = reader.fetchers.get(node)
    if (fetcher is not None and fetcher.full) or not cursor.fetchable:
        return FULL, ""
    return FETCHING, ""
