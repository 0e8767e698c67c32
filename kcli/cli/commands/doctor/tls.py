"""TLS for the doctor: whose certificate it is, for which names, until when, and what is wrong with it."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime

from kcli.cli.commands.doctor.certificate import Certificate, read
from kcli.cli.commands.doctor.diagnose import quick, speaks_plaintext, trimmed
from kcli.cli.commands.doctor.endpoint import Endpoint
from kcli.cli.commands.doctor.steps import Fault
from kcli.security.tls_faults import (
    EXPIRED,
    NO_FIRST,
    NO_ISSUER,
    NOT_YET,
    SELF_SIGNED,
    SELF_SIGNED_IN_CHAIN,
    WRONG_ADDRESS,
    WRONG_NAME,
)

SOON = 14  # days
MANY = 5
FAULTS = {
    EXPIRED: "tls-expired",
    NOT_YET: "tls-early",
    WRONG_NAME: "tls-name",
    WRONG_ADDRESS: "tls-name",
    SELF_SIGNED: "tls-authority",
    SELF_SIGNED_IN_CHAIN: "tls-authority",
    NO_ISSUER: "tls-authority",
    NO_FIRST: "tls-authority",
}


def describe(endpoint: Endpoint) -> str | Fault:
    """The version, and the certificate that was accepted; a Fault as a warning."""
    from kcli.broker.security.secured import SecuredConnection

    assert isinstance(endpoint.connection, SecuredConnection)
    wire: ssl.SSLObject = endpoint.connection.wire.get_extra_info("ssl_object")
    certificate = read(wire.getpeercert(binary_form=True) or b"")
    text = wire.version() or "TLS"
    if certificate is not None:
        text += f", certificate of {names(certificate)}, until {day(certificate.ends)}"
        if certificate.ends is not None and (certificate.ends - datetime.now(UTC)).days < SOON:
            return Fault("tls-expires", text)
    tls = endpoint.access.tls if endpoint.access is not None else None
    if tls is not None and not (tls.verify and tls.verify_host):
        text += "; it is not verified" if not tls.verify else "; its name is not verified"
    return text


async def diagnose(endpoint: Endpoint, problem: Exception) -> Fault:
    """What is wrong with the handshake."""
    cause = problem.__cause__
    host = endpoint.address.host
    if isinstance(cause, ssl.SSLCertVerificationError):
        certificate = await shown_certificate(endpoint)
        fault = FAULTS.get(cause.verify_code, "tls")
        return Fault(fault, _said(fault, certificate, host, trimmed(endpoint, problem)), host=host)
    spoken = await speaks_plaintext(endpoint)
    if spoken == "kafka":
        return Fault("plaintext", "this port speaks Kafka in plaintext, and kcli spoke TLS")
    if spoken == "http":
        return Fault("http", "this port speaks HTTP, not Kafka")
    return Fault("tls", trimmed(endpoint, problem))


def _said(fault: str, found: Certificate | None, host: str, text: str) -> str:
    if found is None:
        return text
    if fault == "tls-expired":
        return f"the certificate of {names(found)} expired on {day(found.ends)}"
    if fault == "tls-early":
        return f"the certificate of {names(found)} is valid from {day(found.begins)} on"
    if fault == "tls-name":
        return f"the certificate is for {names(found)}, and not for {host}"
    if fault == "tls-authority":
        return f"the certificate of {names(found)} was signed by {found.issuer}, which is not trusted here"
    return text


def names(found: Certificate) -> str:
    some = found.names or (found.subject,)
    more = f" and {len(some) - MANY} more" if len(some) > MANY else ""
    return ", ".join(some[:MANY]) + more


def day(when: datetime | None) -> str:
    return "?" if when is None else when.strftime("%Y-%m-%d")


async def shown_certificate(endpoint: Endpoint) -> Certificate | None:
    """The certificate of a peer that is not trusted."""
    assert endpoint.reached is not None
    assert endpoint.access is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    name = endpoint.access.server_name(endpoint.address.host).rstrip(".")
    where = endpoint.reached[1]
    try:
        async with asyncio.timeout(quick(endpoint)):
            _, writer = await asyncio.open_connection(where[0], where[1], ssl=context, server_hostname=name)
    except OSError:  # TLS errors and timeouts are such too
        return None
    certificate = read(writer.get_extra_info("ssl_object").getpeercert(binary_form=True) or b"")
    writer.transport.abort()
    return certificate
