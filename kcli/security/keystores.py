"""Certificates and keys in OpenSSL's form: PEM text from PEM, PKCS12 and (refused, with a remedy) JKS stores.

Raises UsageError with a sentence that names the file and the remedy.
"""

from __future__ import annotations

import re

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.secret import Secret

JKS = b"\xfe\xed\xfe\xed"
JCEKS = b"\xce\xce\xce\xce"
DER_SEQUENCE = 0x30
CERTIFICATE = re.compile(r"-----BEGIN (?:TRUSTED )?CERTIFICATE-----.+?-----END (?:TRUSTED )?CERTIFICATE-----", re.S)
KEY = re.compile(r"-----BEGIN ([A-Z ]*)PRIVATE KEY-----.+?-----END \1PRIVATE KEY-----", re.S)


def read(path: str, what: str) -> bytes:
    """A file's bytes. `what` names the setting in errors."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise UsageError(f"{what}: {path}: {problem.strerror}") from None


def store_as_pem(path: str, kind: str, password: Secret | None, what: str) -> str:
    """What a keystore or truststore holds, as PEM text; a key in it is not encrypted, except in a PEM store."""
    data = read(path, what)
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
    """The command that makes a PKCS12 store of a Java one."""
    stem = path.rpartition(".")[0] or path
    return (
        f"keytool -importkeystore -srckeystore {path} -destkeystore {stem}.p12 -deststoretype PKCS12, "
        f"and name {stem}.p12 instead"
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


def certificates(pem: str) -> str:
    """The certificates of a PEM text, in order."""
    return "\n".join(match.group() for match in CERTIFICATE.finditer(one_per_line(pem))) + "\n"


def private_key(pem: str) -> str:
    """The first private key of a PEM text, "" without one."""
    match = KEY.search(one_per_line(pem))
    return f"{match.group()}\n" if match else ""


def one_per_line(pem: str) -> str:
    """PEM as OpenSSL reads it. In properties it is often on one line, with spaces or a literal `\\n` as line ends."""
    if "\\n" in pem:
        pem = pem.replace("\\n", "\n")
    return re.sub(
        r"(-----BEGIN [A-Z0-9 ]+-----)\s*(.*?)\s*(-----END [A-Z0-9 ]+-----)",
        lambda match: f"{match[1]}\n{_body(match[2])}\n{match[3]}\n",
        pem,
        flags=re.S,
    )


def _body(text: str) -> str:
    if ":" in text:  # the headers of an old encrypted key: its line ends mean something
        return text
    packed = "".join(text.split())
    return "\n".join(packed[at : at + 64] for at in range(0, len(packed), 64))
