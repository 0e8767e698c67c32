"""JWT assertions, which authenticate a client at a token endpoint without a secret (RFC 7523, KIP-1139, KIP-1258)."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from contextlib import suppress

from kcli.errors import AuthError, UsageError
from kcli.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.security import Assertion

ALGORITHMS = ("RS256", "ES256")
"""The algorithms of Kafka's own clients."""


def make(assertion: Assertion) -> str:
    """Return the assertion from its file, or sign a new one. Blocks, so it must run outside the loop's thread. Raises
    AuthError."""
    if assertion.file:
        return _read(assertion.file, "assertion").decode("ascii", "replace").strip()
    header, payload = _claims(assertion)
    signed = f"{_packed(json.dumps(header).encode())}.{_packed(json.dumps(payload).encode())}"
    return f"{signed}.{_packed(_sign(assertion, signed.encode()))}"


def _claims(assertion: Assertion) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and payload: values from the settings, then from the template, then the times."""
    named = {"aud": assertion.audience, "iss": assertion.issuer, "sub": assertion.subject}
    header: dict[str, Any] = {}
    payload: dict[str, Any] = {name: text for name, text in named.items() if text}
    if assertion.template_file:
        template = _template(assertion.template_file)
        header |= template.get("header") or {}
        payload |= template.get("payload") or {}
    now = int(time.time())
    header |= {"alg": assertion.algorithm, "typ": "JWT"}
    payload |= {"iat": now, "exp": now + int(assertion.expires), "nbf": now - int(assertion.not_before)}
    if assertion.unique_id:
        from uuid import uuid4

        payload["jti"] = str(uuid4())
    return header, payload


def _template(path: str) -> dict[str, Any]:
    template: Any = None
    with suppress(ValueError, RecursionError):
        template = json.loads(_read(path, "template of the assertion"))
    if not isinstance(template, dict) or not all(isinstance(part, dict) for part in template.values()):
        raise AuthError(f'the template of the assertion {path} is not JSON such as {{"header": {{}}, "payload": {{}}}}')
    return template


def _sign(assertion: Assertion, data: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise UsageError(
            "to sign an assertion, install cryptography (pip install 'kcli-kafka[pkcs12]'), or name a file with one"
        ) from None
    pem = assertion.key_pem.reveal().encode() if assertion.key_pem else _read(assertion.key_file, "private key")
    password = assertion.passphrase.reveal().encode() if assertion.passphrase else None
    about = f"the private key of the assertion{f' {assertion.key_file}' if assertion.key_file else ''}"
    try:
        key = load_pem_private_key(pem, password)
    except (ValueError, TypeError):
        raise AuthError(f"{about} cannot be read: it is not a private key in PEM, or its passphrase is wrong") from None
    if assertion.algorithm == "RS256" and isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), SHA256())
    if assertion.algorithm == "ES256" and isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size == 256:
        r, s = decode_dss_signature(key.sign(data, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    raise AuthError(f"{about} is not one for {assertion.algorithm}")


def _read(path: str, what: str) -> bytes:
    try:
        return files.read(path, files.SECRET)
    except OSError as problem:
        raise AuthError(f"the {what} {path}: {problem.strerror}") from None


def _packed(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
