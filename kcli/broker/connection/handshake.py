"""The handshake of a new connection: ApiVersions, then SASL (see authentication.py).

ApiVersions is sent in the highest version that the brokers are known to support. A broker that does not support it
responds with UNSUPPORTED_VERSION in v0, and is asked again in the version that it names, else in v0. A broker that
closes the connection instead (as Event Hubs does) is asked in v0.
"""

from __future__ import annotations

from kcli import codes
from kcli.errors import ConnectError, KcliError, Misrouted
from kcli.proto.messages.api_versions import versions_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.broker.connection.connection import Connection
    from kcli.broker.connection.versions import Ranges
    from kcli.proto.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

API_VERSIONS = 18
OLD = 4
"""The ApiVersions version of Kafka 3.7 to 4.3; an older broker rejects it, which costs a round trip."""
WITH_IDENTITY = 5
"""From this version on a broker checks the cluster and node ids that the client expects (KIP-1242)."""


class OtherForm(ConnectError):
    """The broker rejected the password; another form of it has to be tried on a new connection."""


async def agree_on_versions(
    connection: Connection, timeout: float, start: int = OLD, request: ApiVersionsRequest | None = None
) -> Ranges:
    """Return what the broker supports: API key to (lowest, highest). Raises ConnectError with a diagnosis, and
    Misrouted if it is not the broker named in the request."""
    version = start
    request = request or versions_request()
    for _ in range(3):
        answer: ApiVersionsResponse = await (await connection.ask(request, version, timeout))
        code = codes.of(answer.error_code)
        if not code:
            return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}
        if code is codes.REBOOTSTRAP_REQUIRED:
            raise misrouted(connection.name)
        if code is not codes.UNSUPPORTED_VERSION:
            raise KcliError(f"{connection.name} refused ApiVersions: {code.text} ({code.name})")
        offered = {key.api_key: key.max_version for key in answer.api_keys}
        version = offered[API_VERSIONS] if 0 <= offered.get(API_VERSIONS, -1) < version else 0
    raise ConnectError(f"{connection.name} refuses every version of ApiVersions: it may not be a Kafka broker")


def misrouted(name: str) -> Misrouted:
    """Return the error for a connection that leads to another broker."""
    return Misrouted(
        f"{name}: another broker responds at this address ({codes.REBOOTSTRAP_REQUIRED.name}): a tunnel or a load "
        "balancer may lead to the wrong one"
    )
