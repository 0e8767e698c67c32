"""The context of a request for its response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

from kcli import codes
from kcli.acls import CLUSTER, client_address
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from kcli.sandbox.access.sasl import SaslSession
from kcli.sandbox.cluster.brokers import GROUP
from kcli.sandbox.cluster.cluster import SandboxCluster
from kcli.sandbox.wire.broker import SandboxBroker
from kcli.sandbox.wire.peer import Peer
from kcli.sandbox.wire.share_sessions import ShareSessions

T = TypeVar("T")

ANONYMOUS = "User:ANONYMOUS"
NAMELESS = (8, 9, 15, 28, 42)  # APIs that allow an empty group name: offsets, DescribeGroups, DeleteGroups
TURN = 64  # rows of a request to answer before others get their turn


async def in_turns(rows: Iterable[T]) -> AsyncIterator[T]:
    """Iterate over the rows of a request that may have many, answering other connections in between."""
    for number, row in enumerate(rows, 1):
        yield row
        if not number % TURN:
            await asyncio.sleep(0)


class RequestContext:
    """A request in its context: which broker of the `cluster` received it, on which connection (`peer`), and its `sasl`
    session on a listener with SASL."""

    __slots__ = ("broker", "client_id", "cluster", "host", "peer", "sasl", "version")

    def __init__(
        self,
        cluster: SandboxCluster,
        broker: SandboxBroker,
        version: int,
        client_id: str,
        host: str,
        peer: Peer | None = None,
        sasl: SaslSession | None = None,
    ) -> None:
        self.cluster = cluster
        self.broker = broker
        self.version = version
        self.client_id = client_id
        self.host = host
        self.peer = peer
        self.sasl = sasl

    @property
    def principal(self) -> str:
        """The client's principal: User:NAME, or User:ANONYMOUS."""
        return self.peer.principal if self.peer is not None else ANONYMOUS

    @property
    def share_sessions(self) -> ShareSessions:
        """The share sessions of this broker."""
        return self.cluster.share_sessions_of(self.broker)

    # -- ACLs -------------------------------------------------------------------------------------------------------

    def may(self, operation: str, kind: str, name: str) -> bool:
        """Whether the ACLs allow the client to do this; without an authorizer, always."""
        authorizer = self.cluster.access.authorizer
        return authorizer is None or authorizer.allows(
            self.principal, client_address(self.host[1:]), operation, kind, name
        )

    def may_any(self, operation: str, kind: str) -> bool:
        """Whether the client may do this to some resource of a kind."""
        authorizer = self.cluster.access.authorizer
        return authorizer is None or authorizer.allows_any(
            self.principal, client_address(self.host[1:]), operation, kind
        )

    def must(self, operation: str, kind: str, name: str) -> None:
        """Raises BrokerError if the client may not do this."""
        if self.cluster.access.authorizer is not None and not self.may(operation, kind, name):
            from kcli.rights import REFUSALS

            raise BrokerError(REFUSALS[kind])

    def check(self, api: int, kind: str, name: str) -> None:
        """Raises BrokerError if the client may not call the API for this resource."""
        if self.cluster.access.authorizer is not None:
            from kcli.rights import BY_KIND

            operation = BY_KIND[kind].get(api)
            if operation is not None:
                self.must(operation, kind, name)

    def refused(self, api: int, topic: str | None = None, partition: int | None = None) -> ErrorCode | None:
        """Return the error of a request, or of its part about a topic, before it is processed: because of ACLs, or of
        an ordered fault."""
        if self.cluster.access.authorizer is not None:
            try:
                self.check(api, "cluster", CLUSTER)
                if topic:
                    self.check(api, "topic", topic)
            except BrokerError as no:
                return no.code
        return self.cluster.faults.planned.code(api, self.broker.node_id, topic, partition)

    # -- coordinators -----------------------------------------------------------------------------------------------

    def coordinates(self, name: str, kind: int = GROUP) -> bool:
        """Whether this broker coordinates the group or the transactional id."""
        return self.cluster.brokers.coordinator(name, kind) is self.broker

    def check_coordinator(self, api: int, name: str, kind: int = GROUP) -> None:
        """Raises BrokerError: that of ACLs or an ordered fault, INVALID_GROUP_ID or INVALID_REQUEST without a name,
        NOT_COORDINATOR."""
        self.check(api, "group" if kind == GROUP else "transactional-id", name)
        scripted = self.cluster.faults.planned.code(api, self.broker.node_id)
        if scripted is not None:
            raise BrokerError(scripted)
        if not name and kind != GROUP:
            raise BrokerError(codes.INVALID_REQUEST)
        if not name and api not in NAMELESS:
            raise BrokerError(codes.INVALID_GROUP_ID)
        if not self.coordinates(name, kind):
            raise BrokerError(codes.NOT_COORDINATOR)
