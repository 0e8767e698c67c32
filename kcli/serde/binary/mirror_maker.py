"""Decodes MirrorMaker 2's topics, by topic name: heartbeats, checkpoints and offset syncs."""

from __future__ import annotations

from kcli.errors import DecodeError, EncodeError
from kcli.proto.schema import Int32, Int64, Message
from kcli.serde.binary.internal_topics import body, json_of
from kcli.serde.schemas.payloads import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.binary.formats import Read


class HeartbeatKey(Message, versions="0"):
    source_cluster_alias: str = ""
    target_cluster_alias: str = ""


class HeartbeatValue(Message, versions="0"):
    timestamp: Int64 = -1


class CheckpointKey(Message, versions="0"):
    consumer_group_id: str = ""
    topic: str = ""
    partition: Int32 = 0


class CheckpointValue(Message, versions="0"):
    upstream_offset: Int64 = -1
    offset: Int64 = -1
    metadata: str = ""


class OffsetSyncKey(Message, versions="0"):
    topic: str = ""
    partition: Int32 = 0


class OffsetSyncValue(Message, versions="0"):
    upstream_offset: Int64 = -1
    offset: Int64 = -1


def read_mirror(kind: str) -> Read:
    """Return a reader of the keys, or the values, of MirrorMaker's topics."""

    def read(data: bytes, key: bytes | None, topic: str) -> bytes:
        if topic.rpartition(".")[2] == "heartbeats":
            return json_of(_whole(HeartbeatKey, data) if kind == "key" else body(HeartbeatValue, data))
        if topic.endswith(".checkpoints.internal"):
            return json_of(_whole(CheckpointKey, data) if kind == "key" else body(CheckpointValue, data))
        if topic.startswith("mm2-offset-syncs.") and topic.endswith(".internal"):
            return json_of(_whole(OffsetSyncKey if kind == "key" else OffsetSyncValue, data))
        raise Unreadable(
            f"{topic} is not a topic of MirrorMaker: heartbeats, NAME.checkpoints.internal, mm2-offset-syncs"
        )

    return read


def _whole(type: type[Message], data: bytes) -> Message:
    """Decode a message without a version. Raises Unreadable."""
    try:
        return type.decode(0, data)
    except (DecodeError, EncodeError, IndexError) as problem:
        raise Unreadable(f"it is no {type.__name__}: {problem}") from None
