"""The sandbox's SCRAM credentials (KIP-554): from the initial passwords, changed by AlterUserScramCredentials, for
listeners with SASL."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kcli.proto.scram import HASHES, Credential, derive

Note = Callable[[str, dict[str, Any]], None]

FEWEST = 4096


class ScramUsers:
    """Credentials by user and mechanism. `note` records a change in the journal."""

    def __init__(self, passwords: Mapping[str, str], note: Note) -> None:
        self._passwords = dict(passwords)
        self._note = note
        self._changed: dict[tuple[str, str], Credential | None] = {}  # None: deleted
        self._derived: dict[tuple[str, str], Credential] = {}

    def restore(self, facts: Iterable[dict[str, Any]]) -> None:
        """Restore the state from the journal."""
        for fact in facts:
            kept = fact["credential"]
            credential = None if kept is None else Credential(b64decode(kept[0]), kept[1], *map(b64decode, kept[2:]))
            self._changed[fact["user"], fact["mechanism"]] = credential

    def find(self, mechanism: str, name: str) -> Credential | None:
        """Return a user's credential; that of a password is derived on first use."""
        key = name, mechanism
        if key in self._changed:
            return self._changed[key]
        password = self._passwords.get(name)
        if password is None:
            return None
        if key not in self._derived:
            self._derived[key] = derive(mechanism, password.encode())
        return self._derived[key]

    def iterations(self, name: str) -> dict[str, int]:
        """Return a user's mechanisms with their iterations, without deriving anything."""
        iterations = {}
        for mechanism in HASHES:
            key = name, mechanism
            if key not in self._changed:
                if name in self._passwords:
                    iterations[mechanism] = FEWEST
                continue
            kept = self._changed[key]
            if kept is not None:
                iterations[mechanism] = kept.iterations
        return iterations

    def names(self) -> list[str]:
        every = {*self._passwords, *(name for name, _ in self._changed)}
        return sorted(name for name in every if self.iterations(name))

    def set(self, name: str, mechanism: str, salt: bytes, iterations: int, salted: bytes) -> None:
        """A credential from a salted password (RFC 5802)."""
        kind = HASHES[mechanism]
        from hashlib import new

        stored = new(kind, hmac.digest(salted, b"Client Key", kind)).digest()
        credential = Credential(salt, iterations, stored, hmac.digest(salted, b"Server Key", kind))
        written = [
            b64encode(salt).decode(),
            iterations,
            *(b64encode(k).decode() for k in (stored, credential.server_key)),
        ]
        self._note("scram", {"user": name, "mechanism": mechanism, "credential": written})
        self._changed[name, mechanism] = credential

    def delete(self, name: str, mechanism: str) -> None:
        self._note("scram", {"user": name, "mechanism": mechanism, "credential": None})
        self._changed[name, mechanism] = None
