"""Records read as a task reads them, without Spark: schemas that are sealed, and a column of frames."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa

from kcli.pipeline.schemas.fields import field_of
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto.spans import Gathered
from kcli.schemas import Schema

NO_HEADERS = Gathered(0, b"", b"", b"", None, None, None, None, None)


def frame(number: int, payload: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + payload


def read(form: str, kind: str, reader: str, written: dict[int, str], *values: bytes | None, **more: Any) -> Any:
    """The cells of values, and by row why one has none. `written` are the schemas of ids."""
    known = {frame(number, b""): Known(schema=Schema(kind=kind, text=text)) for number, text in written.items()}
    sealed = SealedSchemas(
        form=form, reader=Known(schema=Schema(kind=kind, text=reader)), written=tuple(known.items()), **more
    )
    return _read(sealed, *values)


def cells_of(sealed: SealedSchemas, *values: bytes | None) -> tuple[list[Any], dict[int, str]]:
    """The same as values of Python, by schemas that are sealed already."""
    made, errors = _read(sealed, *values)
    return made.to_pylist(), errors


def _read(sealed: SealedSchemas, *values: bytes | None) -> Any:
    field = field_of(pickle.loads(pickle.dumps(sealed)))
    made, errors = field(pa.array(values, pa.binary()), NO_HEADERS)
    made.validate(full=True)
    return made, errors
