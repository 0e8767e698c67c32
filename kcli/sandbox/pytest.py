"""The pytest plugin: a fixture `sandbox`, a fresh cluster of one broker for each test, in a thread of its own.

`sandbox.bootstrap` is where clients connect, `sandbox.faults` what may go wrong; topics are made on demand. A test that
wants more brokers or a directory uses `kcli.sandbox.Sandbox` or `kcli.sandbox.thread.SandboxThread` itself.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.sandbox.thread import SandboxThread


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    """An embedded Kafka cluster; see kcli.sandbox."""
    from kcli.sandbox.thread import SandboxThread

    with SandboxThread() as running:
        yield running
