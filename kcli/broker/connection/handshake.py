"""The handshake of a new connection before its first request: ApiVersions; then SASL, see authentication.py.

ApiVersions is sent at our highest version. A broker that does not know it answers UNSUPPORTED_VERSION as v0, and is
asked again at the version that it names, else at v0; one that drops the connection instead (Event Hubs does) is asked
at v0 (B9).
"""

from __future__ import annotations

from kcli import codes
from kcli.errors import ConnectError, KcliError
from kcli.proto.messages.api_versions import versions_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.broker.connection.connection import Connection
    from kcli.broker.connection.versions import Ranges
    from kcli.proto.messages.api_versions import ApiVersionsResponse

API_VERSIONS = 18


class OtherForm(ConnectError):
    """The broker refused the password, which has another form to be tried on a new connection."""


async def agree_on_versions(connection: Connection, timeout: float, start: int = 4) -> Ranges:
    """What the broker speaks: API key to (lowest, highest). Raises ConnectError with a diagnosis."""
    version = start
    for _ in range(3):
        answer: ApiVersionsResponse = await (await connection.ask(versions_request(), version, timeout))
        code = codes.of(answer.error_code)
        if not code:
            return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}
        if code is not codes.UNSUPPORTED_VERSION:
            raise KcliError(f"{connection.name} refused ApiVersions: {code.text} ({code.name})")
        offered = {key.api_key: key.max_version for key in answer.api_keys}
        version = offered[API_VERSIONS] if 0 <= offered.get(API_VERSIONS, -1) < version else 0
    raise ConnectError(f"{connection.name} refuses every version of ApiVersions: it may not be a Kafka broker")
