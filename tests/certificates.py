"""Certificates for tests, made as they are wanted: authorities, servers, clients, and what can be wrong with them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

LOOPBACK = ("localhost", "127.0.0.1")
PASSWORD = "key password"


class Issued:
    """A certificate and its key, as PEM files: `certificate`, `key`, both in `both`, and `locked` with PASSWORD."""

    def __init__(self, folder: Path, name: str, made: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self.made, self.secret = made, key
        self.certificate, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        self.both, self.locked = folder / f"{name}.both.pem", folder / f"{name}.locked.pem"
        pem = made.public_bytes(Encoding.PEM)
        self.certificate.write_bytes(pem)
        self.key.write_bytes(self._key(NoEncryption()))
        self.both.write_bytes(self._key(NoEncryption()) + pem)
        self.locked.write_bytes(self._key(BestAvailableEncryption(PASSWORD.encode())) + pem)
        self.name = name
        self.folder = folder

    def _key(self, how: KeySerializationEncryption) -> bytes:
        return self.secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)

    def pkcs12(self, *authorities: x509.Certificate, password: str = PASSWORD) -> Path:
        """The same as a PKCS12 store."""
        path = self.folder / f"{self.name}.p12"
        lock = BestAvailableEncryption(password.encode())
        path.write_bytes(
            pkcs12.serialize_key_and_certificates(b"kcli", self.secret, self.made, list(authorities), lock)
        )
        return path


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self.folder = folder
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{name} of the tests")])
        self._key = ec.generate_private_key(ec.SECP256R1())
        root = self._begin(self._name, self._key, 0, 30).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.root = Issued(folder, name, root.sign(self._key, hashes.SHA256()), self._key)
        self.path = self.root.certificate

    def _begin(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, begins: int, ends: int
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=begins, hours=-1))
            .not_valid_after(now + timedelta(days=ends))
        )

    def issue(
        self, name: str, names: tuple[str, ...] = LOOPBACK, begins: int = 0, ends: int = 30, usage: str = ""
    ) -> Issued:
        """A certificate for `names`, valid from `begins` to `ends` days from now; `usage` server or client only."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        made = self._begin(subject, key, begins, ends)
        alternatives: list[x509.GeneralName] = []
        for one in names:
            try:
                alternatives.append(x509.IPAddress(ip_address(one)))
            except ValueError:
                alternatives.append(x509.DNSName(one))
        if alternatives:
            made = made.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        if usage:
            kinds = {"server": x509.ExtendedKeyUsageOID.SERVER_AUTH, "client": x509.ExtendedKeyUsageOID.CLIENT_AUTH}
            made = made.add_extension(x509.ExtendedKeyUsage([kinds[usage]]), critical=False)
        return Issued(self.folder, name, made.sign(self._key, hashes.SHA256()), key)
