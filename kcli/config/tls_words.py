"""Java's words for TLS versions and ciphers, as OpenSSL has them."""

from __future__ import annotations

from kcli.errors import UsageError


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
