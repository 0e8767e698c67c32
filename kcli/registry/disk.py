"""A disk cache of schemas in the cache folder: the schema of an id or a GUID never changes, so the next run need not
request it.

A file is named by the hash of registry and key, repeats both, and begins with the hash of its contents: a file that was
cut short, or that belongs to something else, is not used. Registries are distinguished by everything that selects their
responses, not only by address (`place_of`). The folder has to be the user's own (mode 700), or it is not used. Any
problem here only costs a request.
"""

from __future__ import annotations

import json
import os

from kcli.paths import cache_folder
from kcli.registry.answers import document, schema_of
from kcli.secret import Secret
from kcli.system import files
from kcli.text.json_object import JsonObject, read_object
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schema

    Named = Sequence[tuple[str, Schema]]

try:
    from _blake2 import blake2b  # hashlib imports OpenSSL, which costs 2 ms
except ImportError:
    from hashlib import blake2b


NEUTRAL = """
credentials disk key_strategy value_strategy peer accept media largest connect_timeout read_timeout timeout retries
retry_backoff retry_backoff_max
""".split()
"""Settings that do not change a registry's responses."""


def place_of(settings: RegistrySettings) -> str:
    """Return the name of a registry in the cache: its addresses, and a hash of everything else that selects its
    responses, such as the login and the headers of a tenant."""
    return f"{settings.name} {_hash(repr(_facts(settings)).encode())[:32]}"


def _facts(value: object) -> object:
    if isinstance(value, Frozen):
        return [(f.name, _facts(getattr(value, f.name))) for f in value.__fields__ if f.name not in NEUTRAL]
    if isinstance(value, Secret):
        return value.reveal()
    return [_facts(one) for one in value] if isinstance(value, tuple) else value


class Disk:
    """The files of one registry, identified by `name`."""

    def __init__(self, name: str, folder: str | None = None) -> None:
        self._name = name
        self._folder = folder or os.path.join(cache_folder(), "schemas")

    def read(self, key: str) -> list[tuple[str, Schema]] | None:
        """Return what was written under the key, None without a valid file."""
        try:
            if files.distrust(os.stat(self._folder)):
                return None
            data = files.read(self._path(key), files.TEXT)
        except OSError:
            return None
        digest, _, body = data.partition(b"\n")
        if digest != _hash(body).encode():
            return None
        try:
            read = read_object(body.decode())
            if (read.text("registry"), read.text("key")) != (self._name, key):
                return None
            return [_schema(row) for row in read.objects("schemas")]
        except (ValueError, RecursionError):
            return None

    def write(self, key: str, schemas: Named) -> None:
        """Write schemas, each with its name, under the key."""
        written = {"registry": self._name, "key": key, "schemas": [_row(name, schema) for name, schema in schemas]}
        body = json.dumps(written, ensure_ascii=False).encode()
        if len(body) >= files.TEXT:
            return
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            files.replace(self._path(key), _hash(body).encode() + b"\n" + body)
        except OSError:  # a full disk, or a read-only folder: the next run requests it again
            return

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, _hash(f"{self._name}\n{key}".encode())[:40])


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=32).hexdigest()


def _row(name: str, schema: Schema) -> dict[str, object]:
    """Return a schema in the form of a registry's response, with its context and the name by which it was requested."""
    fields = document(schema)
    given = {"id": schema.id, "version": schema.version}
    fields |= {name: value for name, value in given.items() if value >= 0}
    fields |= {name: value for name, value in (("guid", schema.guid), ("subject", schema.subject)) if value}
    return {"name": name, "context": schema.context, "schema": fields}


def _schema(row: JsonObject) -> tuple[str, Schema]:
    return row.text("name"), schema_of(row.nested("schema").fields).replace(context=row.text("context"))
