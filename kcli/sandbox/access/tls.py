"""TLS of the sandbox's listeners: given certificates, or generated ones for tests."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from kcli.errors import UsageError
from kcli.system import files
from kcli.values import Frozen

SHORT = {
    "commonName": "CN",
    "organizationalUnitName": "OU",
    "organizationName": "O",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "countryName": "C",
}


class ServerTls(Frozen):
    """Paths of PEM files: `certificate` (with the chain) and its `key` ("" if in the same file); with a `client_ca`,
    clients need a certificate of that authority."""

    certificate: str = ""
    key: str = ""
    key_password: str = ""
    client_ca: str = ""


def server_context(tls: ServerTls) -> ssl.SSLContext:
    """Raises UsageError for unusable files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        pem = b"".join(files.read(path, files.KEYS) + b"\n" for path in (tls.certificate, tls.key) if path)
        with files.passing(pem) as path:
            context.load_cert_chain(path, password=tls.key_password or None)
        if tls.client_ca:
            context.load_verify_locations(cadata=files.read(tls.client_ca, files.KEYS).decode("latin-1"))
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ssl.SSLError) as problem:
        path = problem.filename or tls.certificate
        raise UsageError(f"the sandbox's certificate {path}: {problem.strerror or problem}") from None
    return context


def subject(secured: ssl.SSLObject) -> str:
    """Return the name of the client's certificate in the form of Kafka's principals (RFC 2253); "" without one."""
    names: Any = (secured.getpeercert() or {}).get("subject", ())
    pairs = [f"{SHORT.get(key, key)}={value}" for part in names for key, value in part]
    return ",".join(reversed(pairs))


def find_or_make(folder: Path) -> ServerTls:
    """Return the certificates of a folder, generated if there are none. Raises UsageError."""
    found = ServerTls(certificate=str(folder / "server.pem"), key=str(folder / "server.key"))
    if (folder / "server.pem").exists():
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return make_certificates(folder)
    except OSError as problem:
        raise UsageError(f"certificates cannot be made in {folder}: {problem.strerror}") from None


def make_certificates(folder: Path, names: Sequence[str] = ("localhost",), days: int = 30) -> ServerTls:
    """Create an authority (`ca.pem`) and a certificate signed by it for `names` and loopback (`server.pem`,
    `server.key`), in `folder`. Raises UsageError without the package cryptography."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    except ImportError:
        raise UsageError(
            "to make certificates, install cryptography (pip install 'kcli-kafka[pkcs12]'), or give your own"
        ) from None

    def issue(name: str, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey, authority: bool) -> bytes:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kcli sandbox authority")]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        )  # Python 3.13 and newer require both key identifiers, and a key usage in the authority
        if authority:
            usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        else:
            alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
            alternatives += [x509.IPAddress(ip_address(address)) for address in ("127.0.0.1", "::1")]
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        return builder.sign(signer, hashes.SHA256()).public_bytes(Encoding.PEM)

    root, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    (folder / "ca.pem").write_bytes(issue("kcli sandbox authority", root, root, authority=True))
    (folder / "server.pem").write_bytes(issue("kcli sandbox", key, root, authority=False))
    (secret := folder / "server.key").touch(0o600)
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return ServerTls(certificate=str(folder / "server.pem"), key=str(secret))
