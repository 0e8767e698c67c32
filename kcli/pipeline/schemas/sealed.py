"""Schemas in the form in which the driver sends them to tasks, with the settings of their registry."""

from __future__ import annotations

import pickle
from typing import Any

from kcli.pipeline.connection import opened, plain
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Schema
from kcli.values import Frozen


class Known(Frozen):
    """A schema with the names and texts of those that it references, each after what it needs itself."""

    schema: Schema = Schema()
    referred: tuple[tuple[str, str], ...] = ()


class SealedSchemas(Frozen):
    """The schemas of keys or values (`field`): that of the `reader`, and those with which records may be written, by
    the names in their frames.

    `bare` is the schema of unframed records given by the user, and without a registry that of all; `payload` is its
    Protobuf message. `rules`: whether rules for reading are run. The repr shows no secrets; the pickle contains them,
    because every task needs them.
    """

    field: str = "value"
    form: str = "avro"
    message: str = ""
    reader: Known = Known()
    written: tuple[tuple[bytes, Known], ...] = ()
    bare: Known | None = None
    payload: str = ""
    settings: RegistrySettings = RegistrySettings()
    rules: bool = True
    defaults: bool = False

    def __repr__(self) -> str:
        return f"<{self.form} schemas of {self.field}s>"

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return opened, (pickle.dumps(plain(self)),)
