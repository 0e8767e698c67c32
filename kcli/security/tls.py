"""TLS: one context per client, and the upgrade of a TCP connection.

TLS 1.2 or newer; the certificate chain and host name are verified by default. tls_faults.py words the errors.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl

from kcli.errors import ConnectError, UsageError
from kcli.security.tls_faults import explain
from kcli.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.secret import Secret
    from kcli.security import Tls

VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
JKS = b"\xfe\xed\xfe\xed"
JCEKS = b"\xce\xce\xce\xce"
DER_SEQUENCE = 0x30
CERTIFICATE = re.compile(r"-----BEGIN (?:TRUSTED )?CERTIFICATE-----.+?-----END (?:TRUSTED )?CERTIFICATE-----", re.S)
KEY = re.compile(r"-----BEGIN ([A-Z ]*)PRIVATE KEY-----.+?-----END \1PRIVATE KEY-----", re.S)


def client_context(tls: Tls) -> ssl.SSLContext:
    """Return the TLS context. Raises UsageError for an unreadable file, a wrong password, or a key that does not match
    the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = _version(tls.minimum, "ssl.enabled.protocols")
    if tls.maximum:
        context.maximum_version = _version(tls.maximum, "ssl.enabled.protocols")
    if tls.ciphers:
        try:
            context.set_ciphers(tls.ciphers)
        except ssl.SSLError:
            raise UsageError(f"ssl.cipher.suites: OpenSSL supports none of {tls.ciphers}") from None
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
    """Load the trusted authorities. A given certificate is trusted even if another one signed it, as in Java."""
    if tls.ca_pem or tls.truststore or tls.ca:
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if tls.ca_pem or tls.truststore:
        what = "ssl.ca.pem" if tls.ca_pem else "ssl.truststore.location"
        pem = tls.ca_pem or store_as_pem(tls.truststore, tls.truststore_type, tls.truststore_password, what)
        certificates = read_certificates(pem)
        if "BEGIN" not in certificates:
            raise UsageError(f"{what}: it contains no certificate")
        _load(context, certificates, f"{what}: it holds something that is not a certificate")
    elif tls.ca and os.path.isdir(tls.ca):
        paths = [os.path.join(tls.ca, name) for name in os.listdir(tls.ca)]  # OpenSSL itself reads them
        odd = [path for path in paths if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))]
        if odd:
            raise UsageError(f"ssl.ca.location: {odd[0]} is neither a file nor a folder")
        context.load_verify_locations(capath=tls.ca)
    elif tls.ca:
        certificates = read_certificates(store_as_pem(tls.ca, "PEM", None, "ssl.ca.location"))
        if "BEGIN" not in certificates:
            raise UsageError(f"ssl.ca.location: {tls.ca} contains no certificate; expected PEM")
        _load(context, certificates, f"ssl.ca.location: {tls.ca} holds something that is not a certificate")
    else:
        context.load_default_certs()


def _load(context: ssl.SSLContext, pem: str, wrong: str) -> None:
    try:
        context.load_verify_locations(cadata=pem)
    except ssl.SSLError:
        raise UsageError(wrong) from None


def _present(context: ssl.SSLContext, tls: Tls) -> None:
    """Load our certificate, its chain and its key, which brokers request for mutual TLS."""
    chain, key, password, what = tls.certificate_pem, "", tls.key_password, "ssl.certificate.pem"
    if tls.keystore:
        what = "ssl.keystore.location"
        chain = key = store_as_pem(tls.keystore, tls.keystore_type, tls.keystore_password, what)
        password = tls.key_password or tls.keystore_password
    elif tls.certificate:
        what = "ssl.certificate.location"
        chain = chain or read_store(tls.certificate, what).decode("latin-1")
    if tls.key_pem is not None:
        key = tls.key_pem.reveal()
    elif tls.key:
        key = read_store(tls.key, "ssl.key.location").decode("latin-1")
    if not chain and not key:
        return
    ours, secret = read_certificates(chain), read_private_key(key or chain)
    if "BEGIN" not in ours or not secret:
        missing = "certificate" if secret else "private key"
        raise UsageError(f"{what}: there is no {missing} for the client certificate; expected PEM")
    _load_ours(context, secret + ours, None if password is None else password.reveal(), what)


def _load_ours(context: ssl.SSLContext, pem: str, password: str | None, what: str) -> None:
    asked = []

    def answer() -> str:  # otherwise OpenSSL would ask in the terminal
        asked.append(True)
        return password or ""

    try:
        with files.passing(pem.encode("latin-1")) as path:
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
    """Start TLS on a connected transport and return the transport to use from now on.

    `host` is used to verify the certificate and for SNI; a trailing dot is dropped. Raises ConnectError, or TlsError if
    a retry would not help.
    """
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


def read_store(path: str, what: str) -> bytes:
    """Return the content of a file. `what` names the setting in errors."""
    try:
        return files.read(path, files.KEYS)
    except OSError as problem:
        raise UsageError(f"{what}: {path}: {problem.strerror}") from None


def store_as_pem(path: str, kind: str, password: Secret | None, what: str) -> str:
    """Return the content of a keystore or truststore as PEM. Keys in it are decrypted, except in a PEM store."""
    data = read_store(path, what)
    name = kind.upper() or ("PEM" if b"-----BEGIN" in data[:65536] else "")
    if data[:4] in (JKS, JCEKS) or name in ("JKS", "JCEKS"):
        raise UsageError(
            f"{what}: {path} is a Java keystore, which only Java can read. Convert it once: {convert(path)}"
        )
    if name == "PEM":
        return _text(data, path, what)
    if name not in ("", "PKCS12") or data[:1] != bytes([DER_SEQUENCE]):
        raise UsageError(f"{what}: {path} is neither PEM nor PKCS12{f' (type {kind})' if kind else ''}")
    return _pkcs12(data, path, password, what)


def convert(path: str) -> str:
    """Return the command that converts a Java keystore to PKCS12."""
    stem = path.rpartition(".")[0] or path
    return (
        f"keytool -importkeystore -srckeystore {path} -destkeystore {stem}.p12 -deststoretype PKCS12, then "
        f"use {stem}.p12"
    )


def _pkcs12(data: bytes, path: str, password: Secret | None, what: str) -> str:
    try:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            pkcs12,
        )
    except ImportError:
        stem = path.rpartition(".")[0] or path
        raise UsageError(
            f"{what}: to read the PKCS12 store {path}, install cryptography (pip install 'kcli-kafka[pkcs12]'), "
            f"or convert it: openssl pkcs12 -in {path} -out {stem}.pem -nodes"
        ) from None
    try:
        opened = pkcs12.load_pkcs12(data, password.reveal().encode() if password is not None else None)
    except ValueError as problem:
        reason = "the password is wrong or missing" if "password" in str(problem).lower() else str(problem)
        raise UsageError(f"{what}: the PKCS12 store {path} cannot be opened: {reason}") from None
    parts = []
    if opened.key is not None:
        parts.append(opened.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    if opened.cert is not None:
        parts.append(opened.cert.certificate.public_bytes(Encoding.PEM))
    parts.extend(cert.certificate.public_bytes(Encoding.PEM) for cert in opened.additional_certs)
    return b"".join(parts).decode()


def _text(data: bytes, path: str, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{what}: {path} is not PEM: it is not text") from None


def read_certificates(pem: str) -> str:
    """Return the certificates of a PEM text, in order."""
    return "\n".join(match.group() for match in CERTIFICATE.finditer(one_per_line(pem))) + "\n"


def read_private_key(pem: str) -> str:
    """Return the first private key of a PEM text; "" if there is none."""
    match = KEY.search(one_per_line(pem))
    return f"{match.group()}\n" if match else ""


def one_per_line(pem: str) -> str:
    r"""Return PEM with the line breaks that OpenSSL needs. In properties files it is often on one line, with spaces or
    a literal `\n` in place of line breaks."""
    if "\\n" in pem:
        pem = pem.replace("\\n", "\n")
    return re.sub(
        r"(-----BEGIN [A-Z0-9 ]+-----)\s*(.*?)\s*(-----END [A-Z0-9 ]+-----)",
        lambda match: f"{match[1]}\n{_body(match[2])}\n{match[3]}\n",
        pem,
        flags=re.S,
    )


def _body(text: str) -> str:
    if ":" in text:  # headers of an encrypted key in the old format need their line breaks
        return text
    packed = "".join(text.split())
    return "\n".join(packed[at : at + 64] for at in range(0, len(packed), 64))
