"""Both record cores, for suites that run over each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from kcli.proto import records
from kcli.proto.batch import seal

CORES: list[ModuleType] = [records]
try:
    from kcli.proto import _records
except ImportError:
    if os.environ.get("CI"):
        raise  # in CI the compiled core must be there
else:
    CORES.append(_records)


def sealed(builder: Any, **options: Any) -> bytes:
    """What `builder` holds as the bytes of a batch."""
    count, base, latest = builder.count, builder.base_timestamp, builder.max_timestamp
    return bytes(seal(builder.take(), count, base, latest, **options).data)


def opened(core: Any, data: bytes, check_crcs: bool = True) -> Any:
    """The one batch in `data`, as `core` sees it."""
    found: list[Any] = []
    at, wrong = core.scan(data, 0, check_crcs, core.Header, found)
    assert wrong is None
    assert at == len(data)
    return found[0]


def built(core: Any, rows: Iterable[Any]) -> bytes:
    """A batch of (timestamp, key, value, headers)."""
    builder = core.Builder()
    for row in rows:
        builder.append(*row)
    return sealed(builder)
