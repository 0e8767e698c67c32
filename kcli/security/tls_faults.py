"""Explains TLS failures in sentences with a remedy."""

from __future__ import annotations

import ssl

from kcli.errors import ConnectError, TlsError

EXPIRED, NOT_YET = 10, 9
SELF_SIGNED, SELF_SIGNED_IN_CHAIN, NO_ISSUER, NO_FIRST = 18, 19, 20, 21
WRONG_NAME, WRONG_ADDRESS = 62, 64
PURPOSE = 26

# name in the peer's alert, or in our TLS library: explanation
REASONS = {
    "CERTIFICATE_REQUIRED": "requires a client certificate: set ssl.keystore.location, or ssl.certificate.location and "
    "ssl.key.location",
    "UNKNOWN_CA": "does not trust the authority of our client certificate: use one whose authority is in its "
    "truststore",
    "CERTIFICATE_EXPIRED": "reports that our client certificate has expired: renew it",
    "CERTIFICATE_REVOKED": "reports that our client certificate was revoked",
    "CERTIFICATE_UNKNOWN": "does not accept our client certificate",
    "UNSUPPORTED_CERTIFICATE": "does not accept our client certificate: it may not be valid for clients (extended key "
    "usage clientAuth)",
    "BAD_CERTIFICATE": "does not accept our client certificate, or requires one: set ssl.keystore.location, or "
    "ssl.certificate.location and ssl.key.location",
    "UNRECOGNIZED_NAME": "does not recognize the requested host name (SNI)",
    "PROTOCOL_VERSION": "supports no TLS version that kcli accepts (1.2 and 1.3)",
    "UNSUPPORTED_PROTOCOL": "supports no TLS version that kcli accepts (1.2 and 1.3)",
    "NO_PROTOCOLS_AVAILABLE": "and we have no version of TLS in common: see ssl.enabled.protocols",
    "HANDSHAKE_FAILURE": "and we have no cipher or version of TLS in common, or it requires a client certificate: set "
    "ssl.keystore.location, or ssl.certificate.location and ssl.key.location",
    "INSUFFICIENT_SECURITY": "requires stronger ciphers than kcli offers",
    "NO_SHARED_CIPHER": "and we have no cipher in common",
    "DH_KEY_TOO_SMALL": "offers a key too weak to be safe: it needs a stronger one",
    "ACCESS_DENIED": "refuses our client certificate",
}
PLAINTEXT = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "UNKNOWN_PROTOCOL")


WITHOUT_TLS = {
    "broker": ("security.protocol=PLAINTEXT or SASL_PLAINTEXT", "security.protocol=PLAINTEXT or SASL_PLAINTEXT"),
    "registry": ("http:// in schema.registry.url", "http://"),
    "token URL": ("its https port", "http://"),
    "webhook": ("its https port", "http://"),
}


def explain(problem: BaseException, name: str, host: str, peer: str = "broker") -> ConnectError:
    """Return the error for a TLS failure; `name` is the peer's name, `host` the name that the certificate should have.
    `peer` is a key of WITHOUT_TLS."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return TlsError(f"{name}: {_certificate(problem, host, peer)}")
    if isinstance(problem, ssl.SSLError):
        reason = str(getattr(problem, "reason", None) or "")
        if any(word in reason for word in PLAINTEXT):
            return TlsError(f"{name} does not use TLS on this port: use {WITHOUT_TLS[peer][0]}")
        for word, means in REASONS.items():
            if reason.endswith(word):
                return TlsError(f"{name} {means}")
        if isinstance(problem, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return hung_up(name, peer)
        return ConnectError(f"{name}: the TLS connection failed ({reason or problem})")
    if isinstance(problem, ConnectionResetError):
        return hung_up(name, peer)
    return ConnectError(f"{name}: the TLS connection failed ({problem})")


def hung_up(name: str, peer: str = "broker") -> ConnectError:
    """Return a retriable error, because a proxy closes the connection in the same way while the broker is away."""
    return ConnectError(
        f"{name} closed the connection during the TLS handshake: the port may use plaintext "
        f"({WITHOUT_TLS[peer][1]}), or require another client certificate (ssl.keystore.location)"
    )


def _certificate(problem: ssl.SSLCertVerificationError, host: str, peer: str) -> str:
    code = problem.verify_code
    if code == EXPIRED:
        return f"the {peer}'s certificate has expired: renew it (or this machine's clock is wrong)"
    if code == NOT_YET:
        return f"the {peer}'s certificate is not valid yet: check this machine's clock"
    if code in (WRONG_NAME, WRONG_ADDRESS):
        return (
            f"the {peer}'s certificate is not for {host}: connect by a name that is in it, add the name to the "
            "certificate, or turn the check off with ssl.endpoint.identification.algorithm= (empty)"
        )
    if code in (SELF_SIGNED, SELF_SIGNED_IN_CHAIN, NO_ISSUER, NO_FIRST):
        kind = "signed by itself" if code == SELF_SIGNED else "signed by an authority that is not trusted here"
        return f"the {peer}'s certificate is {kind}: name its authority with ssl.ca.location (a PEM file)"
    if code == PURPOSE:
        return f"the {peer}'s certificate is not made for servers (extended key usage serverAuth)"
    return f"the {peer}'s certificate is not accepted: {problem.verify_message or problem.reason}"
