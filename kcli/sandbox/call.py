"""What an answer knows about its request besides the request itself, and how it ends the connection instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.broker import SandboxBroker
    from kcli.sandbox.entrance import Entrance
    from kcli.sandbox.link import Link


ANONYMOUS = "User:ANONYMOUS"


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
