"""The client of a task, which a Python process of Spark's keeps for its next one: the batches of a stream come one
after another, and connecting anew takes longer than a small one.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from time import monotonic

from kcli.pipeline.background import Background
from kcli.pipeline.connection import Sealed, plain

MOST = 4
"""Clusters, or ways of connecting to one, whose clients are kept."""
IDLE = 300.0
"""Seconds after which a client is too old: brokers end connections that nothing is sent over."""
_kept: dict[bytes, tuple[float, Background]] = {}


@contextmanager
def client_of(sealed: Sealed) -> Iterator[Background]:
    """A connected client; outside of a task one that ends with the block, as does one whose block raised. Raises what
    the client raises."""
    key = sha256(pickle.dumps(plain(sealed))).digest() if in_task() else b""
    kafka = _taken(key) or _made(sealed)
    done = False
    try:
        yield kafka
        done = True
    finally:
        if done and key and key not in _kept and len(_kept) < MOST:
            _kept[key] = monotonic(), kafka
        else:
            kafka.__exit__(None, None, None)


def close() -> None:
    """End the clients that are kept."""
    while _kept:
        _kept.popitem()[1][1].__exit__(None, None, None)


def in_task() -> bool:
    """Whether this process runs a task of Spark's."""
    from pyspark import TaskContext

    return TaskContext.get() is not None


def _taken(key: bytes) -> Background | None:
    since, kafka = _kept.pop(key, (0.0, None))
    if kafka is not None and monotonic() - since > IDLE:
        kafka.__exit__(None, None, None)
        return None
    return kafka


def _made(sealed: Sealed) -> Background:
    kafka = Background(sealed.client)
    kafka.__enter__()
    return kafka
