"""Schemas as they travel from the driver to the tasks, with how their registry is asked for others."""

from __future__ import annotations

import pickle
from typing import Any

from kcli.pipeline.connection import opened, plain
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Schema
from kcli.values import Frozen


class Known(Frozen):
    """A schema with the names and texts of those that it refers to, each after what it needs itself."""

    schema: Schema = Schema()
    referred: tuple[tuple[str, str], ...] = ()


class SealedSchemas(Frozen):
    """The schemas of keys or values (`field`): that of the `reader`, and those that records may be written with, by
    the names in their frames. `bare` is the schema of records without a frame, as the user says, and without a registry
    that of all; `payload` is its message of Protobuf. `rules` says whether rules for reading are run. Its repr shows no
    secret; its pickle has them, as every task needs them."""

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
