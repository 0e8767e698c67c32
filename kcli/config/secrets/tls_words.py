"""Java's words for TLS versions and ciphers, as OpenSSL has them; and whether a certificate has its key."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.secret import HIDDEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def versions(key: str, text: str, where: str) -> dict[str, str]:
    """Java's list of protocols as the lowest and the highest; what is older than TLS 1.2 is never spoken."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in ("TLS", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"):
            raise UsageError(f"{where}: {key}: there is no {name}; TLSv1.2 and TLSv1.3 are spoken")
    spoken = [name for name in ("TLSv1.2", "TLSv1.3") if name in names]
    if key == "ssl.protocol" or "TLS" in names:
        return {}  # Java's name of a context, and of all protocols
    if not spoken:
        raise UsageError(f"{where}: {key}: TLSv1.2 and TLSv1.3 are spoken, nothing older")
    return {"minimum": spoken[0], "maximum": spoken[-1]}


def ciphers(text: str) -> str:
    """OpenSSL's names of Java's; the ones of TLS 1.3 are always on."""
    names = [name.strip() for name in text.replace(":", ",").split(",") if name.strip()]
    return ":".join(filter(None, map(_openssl, names)))


def _openssl(name: str) -> str:
    if not name.startswith("TLS_"):
        return name
    if "_WITH_" not in name:
        return ""
    exchange, _, rest = name.removeprefix("TLS_").partition("_WITH_")
    rest = rest.replace("AES_", "AES").replace("_CBC_", "_").replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    return (rest if exchange == "RSA" else f"{exchange}_{rest}").replace("_", "-")


def paired(fields: dict[str, Any]) -> None:
    """Raises UsageError for a key without a certificate, and for a certificate written out here without its key, as far
    as that is visible without reading a file or a secret."""
    key = next((name for name in ("key_pem", "key") if name in fields), "")
    if key and not {"certificate", "certificate_pem", "keystore"} & fields.keys():
        named = "ssl.key.location" if key == "key" else "the private key (ssl.key.pem, ssl.keystore.key)"
        raise UsageError(
            f"{named} has no certificate beside it: name ssl.certificate.location, ssl.certificate.pem or "
            "ssl.keystore.certificate.chain"
        )
    chain = fields.get("certificate_pem", HIDDEN)
    if not key and chain != HIDDEN and "PRIVATE KEY-----" not in chain:
        raise UsageError(
            "the certificate (ssl.certificate.pem, ssl.keystore.certificate.chain) has no private key beside it: name "
            "ssl.key.location, ssl.key.pem or ssl.keystore.key"
        )
