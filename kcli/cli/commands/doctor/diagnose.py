"""Closer examination of a peer that did not answer as a broker would, or refused the authentication."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.admin.cluster.brokers import oldest
from kcli.broker.connection.connection import Connection
from kcli.broker.connection.handshake import agree_on_versions
from kcli.broker.connection.versions import Ranges
from kcli.cli.commands.doctor.endpoint import Endpoint
from kcli.cli.commands.doctor.steps import Fault
from kcli.errors import ConnectError, DecodeError, KcliError, TooOld, UnsupportedVersion

QUICK = 2.0  # seconds for a second look
NEEDED = {0: "produce", 1: "fetch", 2: "list_offsets", 3: "metadata", 10: "find_coordinator"}
LEAST = {3: 4}
"""Versions below which an API cannot say what kcli asks (Metadata: not to make topics)."""


def generation(versions: Ranges) -> str:
    """How new a broker is, by what it speaks."""
    release = oldest(versions)
    return f"{len(versions)} APIs" + (f", as Kafka {release} or newer" if release else "")


def lacking(versions: Ranges) -> str:
    """What kcli cannot do without and the broker does not have; "" when nothing is missing."""
    from kcli.broker.connection.versions import pick, too_old
    from kcli.proto.messages import request_type

    for key in NEEDED:
        kind = request_type(key)
        assert kind is not None
        try:
            version = pick(kind, versions, "the broker", None)
            if version < LEAST.get(key, 0):
                raise too_old(kind, version, "the broker")
        except (TooOld, UnsupportedVersion) as problem:
            return str(problem)
    return ""


def quick(endpoint: Endpoint) -> float:
    """Seconds for a second look."""
    return min(QUICK, endpoint.seconds)


async def hung_up(endpoint: Endpoint, problem: KcliError) -> Fault:
    """What the peer is, which did not answer ApiVersions."""
    text = trimmed(endpoint, problem)
    if "HTTP" in text:
        return Fault("http", "this port uses HTTP, not Kafka")
    secured = endpoint.access is not None and endpoint.access.context is not None
    if secured and (refusal := _certificate_refused(endpoint)):
        return Fault("tls-client", refusal)
    if "TLS" in text or (not secured and await speaks_tls(endpoint)):
        return Fault("tls-wanted", "this port uses TLS, but kcli used plaintext")
    if isinstance(problem, DecodeError) or "does not speak Kafka" in text:
        return Fault("no-kafka", text)
    if not secured and await speaks_old_kafka(endpoint):
        return Fault("too-old", "the broker does not know ApiVersions: it is older than Kafka 0.10")
    return Fault("closed", "it closed the connection on the first request")


def _certificate_refused(endpoint: Endpoint) -> str:
    """In TLS 1.3 our certificate is refused, or missed, after the handshake."""
    from kcli.broker.security.secured import SecuredConnection

    assert endpoint.access is not None
    if not isinstance(endpoint.connection, SecuredConnection):
        return ""
    problem = endpoint.access.fault(endpoint.connection, endpoint.address.host)
    if problem is not None:
        return trimmed(endpoint, problem)
    tls = endpoint.access.tls
    shown = tls is not None and (tls.certificate or tls.certificate_pem or tls.keystore)
    return "" if shown else "it closed the connection after the TLS handshake; kcli sent no certificate"


async def speaks_tls(endpoint: Endpoint) -> bool:
    """Whether a TLS handshake succeeds, whoever it is with."""
    import ssl

    assert endpoint.reached is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    where = endpoint.reached[1]
    try:
        async with asyncio.timeout(quick(endpoint)):
            _, writer = await asyncio.open_connection(where[0], where[1], ssl=context)
    except ssl.SSLError as problem:
        return "ALERT" in str(problem.reason or "")  # it wants a client certificate, say: TLS all the same
    except OSError:
        return False
    writer.transport.abort()
    return True


async def speaks_plaintext(endpoint: Endpoint) -> str:
    """ "kafka", "http", or "" for neither, of a port that does not speak TLS."""
    connection = None
    try:
        async with asyncio.timeout(quick(endpoint)):
            connection = await endpoint.open(Connection)
            await agree_on_versions(connection, quick(endpoint))
        return "kafka"
    except KcliError as problem:
        return "http" if "HTTP" in str(problem) else ""
    except TimeoutError:
        return ""
    finally:
        if connection is not None:
            connection.close()


async def speaks_old_kafka(endpoint: Endpoint) -> bool:
    """Whether it answers Metadata 0, which needs no ApiVersions."""
    from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

    connection = None
    try:
        async with asyncio.timeout(quick(endpoint)):
            connection = await endpoint.open(Connection)
            nothing = MetadataRequest(topics=[MetadataRequestTopic(name="kcli.doctor")])
            await (await connection.ask(nothing, 0, quick(endpoint)))
        return True
    except (KcliError, TimeoutError):
        return False
    finally:
        if connection is not None:
            connection.close()


async def offered(endpoint: Endpoint) -> list[str]:
    """The SASL mechanisms that the broker offers, [] when it does not say."""
    from kcli.proto.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

    connection = None
    try:
        async with asyncio.timeout(quick(endpoint)):
            connection = await endpoint.dial()
            await agree_on_versions(connection, quick(endpoint))
            answer: SaslHandshakeResponse = await (
                await connection.ask(SaslHandshakeRequest(mechanism="?"), 1, quick(endpoint))
            )
        return list(answer.mechanisms)
    except (KcliError, TimeoutError):
        return []
    finally:
        if connection is not None:
            connection.close()


async def refused(endpoint: Endpoint, problem: Exception) -> Fault:
    """Why the authentication failed."""
    access = endpoint.access
    assert access is not None
    assert access.sasl is not None
    text = trimmed(endpoint, problem)
    mechanism = access.sasl.mechanism
    mechanisms = await offered(endpoint)
    if mechanisms and mechanism not in mechanisms:
        return Fault("mechanism", f"{mechanism} is not offered; the broker offers {', '.join(mechanisms)}")
    if "allow.insecure.auth" in text:
        return Fault("insecure", f"{mechanism} would send the password or token unencrypted")
    if not mechanisms and "security.protocol=PLAINTEXT or SSL" in text:
        return Fault(
            "sasl-unwanted", "this listener does not use SASL authentication", plain_protocol=protocol(endpoint, False)
        )
    if codes.SASL_AUTHENTICATION_FAILED.name in text:
        return Fault("token" if mechanism == "OAUTHBEARER" else "password", text)
    if mechanism == "OAUTHBEARER" and isinstance(problem, ConnectError):
        return Fault("token", text)
    return Fault("sasl", text)


def protocol(endpoint: Endpoint, sasl: bool) -> str:
    """security.protocol with SASL or without, over the current setting."""
    secured = endpoint.access is not None and endpoint.access.context is not None
    return ("SASL_SSL" if sasl else "SSL") if secured else ("SASL_PLAINTEXT" if sasl else "PLAINTEXT")


def trimmed(endpoint: Endpoint, problem: Exception) -> str:
    """An error without the address, which has a column of its own."""
    text = str(problem)
    for lead in (f"{endpoint.name}: ", f"{endpoint.name} "):
        text = text.removeprefix(lead)
    return text
