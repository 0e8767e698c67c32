"""librdkafka in the process of the tests: what a test opened is closed after it, even when the test failed, and logs to
Python's logging. Otherwise its threads would write to stderr while other tests check what is written there."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

LOG = logging.getLogger("librdkafka")
_open: list[Any] = []


def _closed_after_the_test(base: Any) -> Any:
    def begin(self: Any, *settings: Any, **more: Any) -> None:
        base.__init__(self, *settings, **{"logger": LOG, **more})
        _open.append(self)

    return type(base.__name__, (base,), {"__init__": begin})


def _quiet(begin: Any) -> Any:
    def quiet(self: Any, *settings: Any, **more: Any) -> None:
        begin(self, *settings, **{"logger": LOG, **more})

    return quiet


for _name in ("Producer", "Consumer"):
    setattr(confluent_kafka, _name, _closed_after_the_test(getattr(confluent_kafka, _name)))
AdminClient.__init__ = _quiet(AdminClient.__init__)  # type: ignore[method-assign] # it ends when nothing refers to it


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    finally:
        while _open:
            client = _open.pop()
            if hasattr(client, "purge"):
                client.purge()  # or closing would wait for records that no broker takes any more
            with warnings.catch_warnings(action="ignore"), contextlib.suppress(KafkaException):
                client.close()  # it warns or raises where the test had it fenced, or left a transaction open
