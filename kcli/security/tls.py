"""TLS: one context per client, and the upgrade of a TCP connection (B20).

At least TLS 1.2; chain and host name are verified by default. Errors are sentences: tls_faults.py.
"""

from __future__ import annotations

import asyncio
import os
import ssl

from kcli.errors import ConnectError, UsageError
from kcli.security import keystores
from kcli.security.tls_faults import explain
from kcli.system.files import passing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.security import Tls

VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def client_context(tls: Tls) -> ssl.SSLContext:
    """The context. Raises UsageError for a file that cannot be read, a wrong password, a key that is not the
    certificate's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = _version(tls.minimum, "ssl.enabled.protocols")
    if tls.maximum:
        context.maximum_version = _version(tls.maximum, "ssl.enabled.protocols")
    if tls.ciphers:
        try:
            context.set_ciphers(tls.ciphers)
        except ssl.SSLError:
            raise UsageError(f"ssl.cipher.suites: OpenSSL knows none of {tls.ciphers}") from None
    context.check_hostname = tls.verify and tls.verify_host
    context.verify_mode = ssl.CERT_REQUIRED if tls.verify else ssl.CERT_NONE
    if tls.verify:
        _trust(context, tls)
    _present(context, tls)
    return context


def _version(name: str, what: str) -> ssl.TLSVersion:
    if name not in VERSIONS:
        raise UsageError(f"{what}: the version {name} is not one of {', '.join(VERSIONS)}")
    return VERSIONS[name]


def _trust(context: ssl.SSLContext, tls: Tls) -> None:
    """The authorities. One that is given is trusted as it is, also when another one signed it: so Java does it."""
    if tls.ca_pem or tls.truststore or tls.ca:
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if tls.ca_pem or tls.truststore:
        what = "ssl.ca.pem" if tls.ca_pem else "ssl.truststore.location"
        pem = tls.ca_pem or keystores.store_as_pem(tls.truststore, tls.truststore_type, tls.truststore_password, what)
        certificates = keystores.certificates(pem)
        if "BEGIN" not in certificates:
            raise UsageError(f"{what}: there is no certificate in it")
        _load(context, certificates, f"{what}: it holds something that is not a certificate")
    elif tls.ca and os.path.isdir(tls.ca):
        context.load_verify_locations(capath=tls.ca)
    elif tls.ca:
        certificates = keystores.certificates(keystores.store_as_pem(tls.ca, "PEM", None, "ssl.ca.location"))
        if "BEGIN" not in certificates:
            raise UsageError(f"ssl.ca.location: {tls.ca} has no certificate in it; PEM is expected")
        _load(context, certificates, f"ssl.ca.location: {tls.ca} holds something that is not a certificate")
    else:
        context.load_default_certs()


def _load(context: ssl.SSLContext, pem: str, wrong: str) -> None:
    try:
        context.load_verify_locations(cadata=pem)
    except ssl.SSLError:
        raise UsageError(wrong) from None


def _present(context: ssl.SSLContext, tls: Tls) -> None:
    """Our own certificate with the chain behind it, and its key, where the broker asks for them (mutual TLS)."""
    chain, key, password, what = tls.certificate_pem, "", tls.key_password, "ssl.certificate.pem"
    if tls.keystore:
        what = "ssl.keystore.location"
        chain = key = keystores.store_as_pem(tls.keystore, tls.keystore_type, tls.keystore_password, what)
        password = tls.key_password or tls.keystore_password
    elif tls.certificate:
        what = "ssl.certificate.location"
        chain = chain or keystores.read(tls.certificate, what).decode("latin-1")
    if tls.key_pem is not None:
        key = tls.key_pem.reveal()
    elif tls.key:
        key = keystores.read(tls.key, "ssl.key.location").decode("latin-1")
    if not chain and not key:
        return
    ours, secret = keystores.certificates(chain), keystores.private_key(key or chain)
    if "BEGIN" not in ours or not secret:
        missing = "certificate" if secret else "private key"
        raise UsageError(f"{what}: there is no {missing} for the client certificate; PEM is expected")
    _load_ours(context, secret + ours, None if password is None else password.reveal(), what)


def _load_ours(context: ssl.SSLContext, pem: str, password: str | None, what: str) -> None:
    asked = []

    def answer() -> str:  # without it OpenSSL would ask at the terminal
        asked.append(True)
        return password or ""

    try:
        with passing(pem.encode("latin-1")) as path:
            context.load_cert_chain(path, password=answer)
    except (ssl.SSLError, ValueError) as problem:
        reason = str(getattr(problem, "reason", "") or "")
        if reason == "KEY_VALUES_MISMATCH":
            raise UsageError(f"{what}: the private key does not belong to the certificate") from None
        if asked:
            sentence = "the password of the private key is wrong" if password else "the private key is encrypted"
            raise UsageError(f"{what}: {sentence}: set ssl.key.password") from None
        raise UsageError(f"{what}: the certificate or its key cannot be read ({reason or problem})") from None


async def secure(
    wire: asyncio.Transport,
    protocol: asyncio.BufferedProtocol,
    context: ssl.SSLContext,
    host: str,
    seconds: float,
    name: str = "",
) -> asyncio.Transport:
    """Start TLS over a connected transport; returns the transport to use from now on. `host` is for the certificate's
    check and for SNI; a dot at its end is dropped. Raises ConnectError, TlsError if a retry is useless."""
    name = name or host
    try:
        transport = await asyncio.get_running_loop().start_tls(
            wire,
            protocol,
            context,
            server_hostname=host.rstrip("."),
            ssl_handshake_timeout=max(0.01, seconds),
        )
    except (OSError, ssl.CertificateError) as problem:
        if isinstance(problem, ConnectionAbortedError):
            raise ConnectError(f"{name} accepts connections and does not answer the TLS handshake") from None
        raise explain(problem, name, host) from problem
    assert transport is not None
    return transport
