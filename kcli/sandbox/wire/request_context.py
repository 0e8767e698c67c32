"""What an answer knows about its request besides the request itself, and how it ends the connection instead."""

from __future__ import annotations

import asyncio

from kcli.acls import CLUSTER
from kcli.errors import BrokerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from typing import TypeVar

    from kcli.codes import ErrorCode
    from kcli.sandbox.access.sasl import Entrance
    from kcli.sandbox.wire.broker import SandboxBroker
    from kcli.sandbox.wire.connection import Link

    One = TypeVar("One")

ANONYMOUS = "User:ANONYMOUS"
TURN = 64  # rows of a request that are answered before others have their turn


async def in_turns(rows: Iterable[One]) -> AsyncIterator[One]:
    """The rows of a request that may have many: other connections are answered in between."""
    for number, row in enumerate(rows, 1):
        yield row
        if not number % TURN:
            await asyncio.sleep(0)


class Call:
    """One request, as its answer sees it: on which connection (`link`), and its `entrance` on a listener with SASL."""

    __slots__ = ("broker", "client_id", "entrance", "host", "link", "sandbox", "version")

    @property
    def principal(self) -> str:
        """Who asks: User:NAME, or User:ANONYMOUS."""
        return self.link.principal if self.link is not None else ANONYMOUS

    def may(self, operation: str, kind: str, name: str) -> bool:
        """Whether who asks may do this, by the ACLs; where these bind nobody, everybody may."""
        authorizer = self.sandbox.access.authorizer
        return authorizer is None or authorizer.allows(self.principal, self.host[1:], operation, kind, name)

    def may_any(self, operation: str, kind: str) -> bool:
        """Whether who asks may do this to some resource of a kind."""
        authorizer = self.sandbox.access.authorizer
        return authorizer is None or authorizer.allows_any(self.principal, self.host[1:], operation, kind)

    def must(self, operation: str, kind: str, name: str) -> None:
        """Raises BrokerError where who asks may not do this."""
        if self.sandbox.access.authorizer is not None and not self.may(operation, kind, name):
            from kcli.sandbox.access.rights import REFUSALS

            raise BrokerError(REFUSALS[kind])

    def check(self, api: int, kind: str, name: str) -> None:
        """Raises BrokerError where who asks may not do to this what the API does."""
        if self.sandbox.access.authorizer is not None:
            from kcli.sandbox.access.rights import BY_KIND

            operation = BY_KIND[kind].get(api)
            if operation is not None:
                self.must(operation, kind, name)

    def refused(self, api: int, topic: str | None = None, partition: int | None = None) -> ErrorCode | None:
        """What a request, or its part about a topic, is refused with before it is looked at: because of the ACLs, or
        because a fault was ordered."""
        if self.sandbox.access.authorizer is not None:
            try:
                self.check(api, "cluster", CLUSTER)
                if topic:
                    self.check(api, "topic", topic)
            except BrokerError as no:
                return no.code
        return self.sandbox.faults.planned.code(api, self.broker.node_id, topic, partition)

    def __init__(
        self, broker: SandboxBroker, version: int, client_id: str, host: str, entrance: Entrance | None = None,
        link: Link | None = None,
    ) -> None:  # fmt: skip
        self.sandbox = broker.sandbox
        self.broker = broker
        self.version = version
        self.client_id = client_id
        self.host = host
        self.entrance = entrance
        self.link = link


class CloseConnection(Exception):
    """The answer to this request is that the connection ends (acks=0 with an error)."""
