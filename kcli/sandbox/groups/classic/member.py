"""A member of a classic group, as its coordinator knows it."""

from __future__ import annotations

from asyncio import Future, TimerHandle

from kcli.codes import ErrorCode
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse


class Member:
    """`joining` and `syncing` are the answers it waits for, if it does."""

    def __init__(self, member_id: str, client_id: str, host: str, request: JoinGroupRequest) -> None:
        self.id = member_id
        self.instance_id = request.group_instance_id
        self.client_id = client_id
        self.host = host
        self.assignment = b""
        self.timer: TimerHandle | None = None
        self.joining: Future[JoinGroupResponse] | None = None
        self.syncing: Future[tuple[ErrorCode, bytes]] | None = None
        self.take_terms(request)

    def take_terms(self, request: JoinGroupRequest) -> None:
        """Take over the timeouts (in seconds) and protocols of a JoinGroup."""
        self.terms = request
        self.session_timeout = request.session_timeout_ms / 1000
        rebalance = request.rebalance_timeout_ms
        self.rebalance_timeout = (rebalance if rebalance > 0 else request.session_timeout_ms) / 1000
        self.protocol_type = request.protocol_type
        self.protocols = [(protocol.name, protocol.metadata) for protocol in request.protocols]

    def same_terms(self, request: JoinGroupRequest) -> bool:
        return self.protocols == [(protocol.name, protocol.metadata) for protocol in request.protocols]

    @property
    def protocol_names(self) -> set[str]:
        return {name for name, _ in self.protocols}

    def metadata(self, protocol: str | None) -> bytes:
        return next((data for name, data in self.protocols if name == protocol), b"")

    @property
    def waits(self) -> bool:
        """Whether a rebalance keeps it waiting: then its silence is no death."""
        return self.joining is not None or self.syncing is not None

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def refuse(self, code: ErrorCode) -> None:
        """Answer what it waits for with an error."""
        if self.joining is not None and not self.joining.done():
            self.joining.set_result(refusal(code, self.id))
        if self.syncing is not None and not self.syncing.done():
            self.syncing.set_result((code, b""))
        self.joining = self.syncing = None


def refusal(code: ErrorCode, member_id: str) -> JoinGroupResponse:
    """A JoinGroup answer that is an error."""
    return JoinGroupResponse(error_code=code.number, protocol_name="", member_id=member_id)
