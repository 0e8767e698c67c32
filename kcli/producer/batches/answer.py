"""A broker's answer about one batch, as a plain value."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode
    from kcli.model import Node


class Answer:
    """A partition's part of a Produce response: error, base offset, append time in ms (-1: unknown), the records that
    a broker refused by index (KIP-467), and the current leader (KIP-951; -1: not given)."""

    __slots__ = ("append_time", "base_offset", "code", "endpoint", "leader_epoch", "leader_id", "message", "records")

    def __init__(self, code: ErrorCode) -> None:
        self.code = code
        self.base_offset = -1
        self.append_time = -1
        self.message: str | None = None
        self.records: dict[int, str | None] = {}
        self.leader_id = -1
        self.leader_epoch = -1
        self.endpoint: Node | None = None
