"""The handshake of a new connection before its first request: ApiVersions; then SASL, see authentication.py.

ApiVersions is sent at the highest version that the brokers are known to speak. A broker that does not know it answers
UNSUPPORTED_VERSION as v0, and is asked again at the version that it names, else at v0; one that drops the connection
instead (Event Hubs does) is asked at v0 (B9).
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
"""The version of ApiVersions that Kafka 3.7 to 4.3 speak: an older broker refuses it, which costs a round trip."""
WITH_IDENTITY = 5
"""From this version on a broker checks which cluster and which node the client expects (KIP-1242)."""


class OtherForm(ConnectError):
    """The broker refused the password, which has another form to be tried on a new connection."""


async def agree_on_versions(
    connection: Connection, timeout: float, start: int = OLD, request: ApiVersionsRequest | None = None
) -> Ranges:
    """What the broker speaks: API key to (lowest, highest). Raises ConnectError with a diagnosis; Misrouted if it is
    not the broker that the request means."""
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
    """The error of a connection that leads to another broker."""
    return Misrouted(
        f"{name}: another broker answers at this address ({codes.REBOOTSTRAP_REQUIRED.name}): a tunnel or a load "
        "balancer may lead to the wrong one"
    )
