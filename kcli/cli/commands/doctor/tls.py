"""TLS for the doctor: whose certificate it is, for which names, until when, and what is wrong with it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_address

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
from kcli.values import Frozen

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
UTC_TIME, COMMON_NAME, SUBJECT_ALT_NAME = 0x17, b"\x55\x04\x03", b"\x55\x1d\x11"
VERSION, EXTENSIONS = 0xA0, 0xA3
DNS, ADDRESS = 0x82, 0x87


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
        return Fault("plaintext", "this port uses plaintext, but kcli used TLS")
    if spoken == "http":
        return Fault("http", "this port uses HTTP, not Kafka")
    return Fault("tls", trimmed(endpoint, problem))


def _said(fault: str, found: Certificate | None, host: str, text: str) -> str:
    if found is None:
        return text
    if fault == "tls-expired":
        return f"the certificate of {names(found)} expired on {day(found.ends)}"
    if fault == "tls-early":
        return f"the certificate of {names(found)} is valid only from {day(found.begins)}"
    if fault == "tls-name":
        return f"the certificate is for {names(found)}, not for {host}"
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


# What a certificate says, read from its DER: Python's ssl tells it only of one that it trusts, and the doctor is asked
# about the others. Subject, issuer, names and times; nothing is verified here.
class Certificate(Frozen):
    """`names` are those a client may ask for."""

    subject: str = ""
    issuer: str = ""
    names: tuple[str, ...] = ()
    begins: datetime | None = None
    ends: datetime | None = None


def read(der: bytes) -> Certificate | None:
    """The certificate; None for bytes that are none."""
    try:
        whole = next(_parts(der))[1]
        fields = list(_parts(next(_parts(whole))[1]))
        if fields[0][0] == VERSION:
            fields = fields[1:]
        _, _, issuer, validity, subject = (content for _, content in fields[:5])
        begins, ends = (_time(kind, content) for kind, content in _parts(validity))
        extensions = next((content for kind, content in fields[6:] if kind == EXTENSIONS), b"")
        return Certificate(
            subject=_common(subject), issuer=_common(issuer), names=tuple(_names(extensions)), begins=begins, ends=ends
        )
    except (IndexError, ValueError, StopIteration, RuntimeError):  # the last is StopIteration in a generator
        return None


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(tag, content) of each value. Raises ValueError, IndexError for what is none."""
    at = 0
    while at < len(data):
        kind, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            length = size & 0x7F
            if not 0 < length <= 4:
                raise ValueError("an invalid DER length")
            size, at = int.from_bytes(data[at : at + length], "big"), at + length
        if at + size > len(data):
            raise ValueError("a value extends past its end")
        yield kind, data[at : at + size]
        at += size


def _common(name: bytes) -> str:
    """The common name of a distinguished name, else its last part."""
    last = ""
    for _, relative in _parts(name):
        for _, pair in _parts(relative):
            (_, kind), (_, text) = list(_parts(pair))[:2]
            last = text.decode("utf-8", "replace")
            if kind == COMMON_NAME:
                return last
    return last


def _time(kind: int, content: bytes) -> datetime:
    text = content.decode("ascii")
    if kind == UTC_TIME:
        text = ("19" if text[:2] >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _names(extensions: bytes) -> Iterator[str]:
    if not extensions:
        return
    for _, extension in _parts(next(_parts(extensions))[1]):
        parts = [content for _, content in _parts(extension)]
        if parts[0] == SUBJECT_ALT_NAME:
            for kind, content in _parts(next(_parts(parts[-1]))[1]):
                if kind == DNS:
                    yield content.decode("ascii", "replace")
                elif kind == ADDRESS and len(content) in (4, 16):
                    yield str(ip_address(content))
