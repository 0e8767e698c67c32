"""GSSAPI (Kerberos, RFC 4752): tickets first, then the negotiation of a security layer, which Kafka does not support.

python-gssapi (the extra `kerberos`) is imported on use and runs in a thread, because it may contact a KDC.
"""

from __future__ import annotations

from kcli.errors import AuthError, UsageError
from kcli.security import Kerberos
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NO_LAYER = 1


class Gssapi:
    """The client side of an exchange with the broker at `host`. Raises UsageError without python-gssapi, AuthError."""

    name = "GSSAPI"
    blocking = True

    def __init__(self, kerberos: Kerberos | None, host: str) -> None:
        self._gssapi = _library()
        kerberos = kerberos or Kerberos()
        self._principal = kerberos.principal
        service = f"{kerberos.service}@{kerberos.hostname or host.rstrip('.')}"
        gssapi = self._gssapi
        try:
            target = gssapi.Name(service, gssapi.NameType.hostbased_service)
            self._context = gssapi.SecurityContext(
                name=target, creds=self._credentials(kerberos), usage="initiate", mech=gssapi.MechType.kerberos
            )
        except gssapi.exceptions.GSSError as problem:
            raise _failure(problem, service) from None
        self._service = service
        self._layered = False

    def _credentials(self, kerberos: Kerberos) -> Any:
        gssapi = self._gssapi
        if not kerberos.principal and not kerberos.keytab:
            return None
        name = gssapi.Name(kerberos.principal, gssapi.NameType.kerberos_principal) if kerberos.principal else None
        store = {"client_keytab": kerberos.keytab} if kerberos.keytab else None
        if store is None:
            return gssapi.Credentials(name=name, usage="initiate")
        store["ccache"] = "MEMORY:kcli"
        return gssapi.Credentials(name=name, usage="initiate", store=store)

    def first(self) -> bytes:
        return self._ticket(None)

    def step(self, challenge: bytes) -> bytes | None:
        if self._layered:
            return None
        if not self._context.complete:
            return self._ticket(challenge)
        gssapi = self._gssapi
        try:
            offered = self._context.unwrap(challenge).message
            if len(offered) != 4 or not offered[0] & NO_LAYER:
                raise AuthError(
                    "GSSAPI: the broker requires signed or encrypted messages, which Kafka does not support"
                )
            wanted = bytes((NO_LAYER, 0, 0, 0)) + self._principal.encode()
            self._layered = True
            return bytes(self._context.wrap(wanted, False).message)
        except gssapi.exceptions.GSSError as problem:
            raise _failure(problem, self._service) from None

    def _ticket(self, token: bytes | None) -> bytes:
        try:
            return bytes(self._context.step(token) or b"")
        except self._gssapi.exceptions.GSSError as problem:
            raise _failure(problem, self._service) from None


def _library() -> Any:
    try:
        import gssapi
    except ImportError:
        raise UsageError(
            "sasl.mechanism=GSSAPI needs python-gssapi: pip install 'kcli-kafka[kerberos]' (it needs libkrb5-dev)"
        ) from None
    return gssapi


def _failure(problem: Any, service: str) -> AuthError:
    message = printable(" ".join(str(problem.gen_message()).split()))
    hint = ""
    low = message.lower()
    if "credential" in low and ("no kerberos" in low or "cache" in low or "expired" in low):
        hint = ": run kinit, or set a keytab (sasl.kerberos.keytab)"
    elif "not found in kerberos database" in low:
        hint = ": check sasl.kerberos.service.name and the broker's host name"
    return AuthError(f"GSSAPI for {service}: {message}{hint}")
