"""The pytest plugin: the fixture `kcli_sandbox`, a new cluster with one broker for each test, in a separate thread.

Its names begin with `kcli_` to avoid collisions with names in your test suite; a `conftest.py` can define a shorter
one: `from kcli.sandbox.pytest import kcli_sandbox as sandbox`.

Clients connect to `sandbox.bootstrap`. A topic is created when a client that requests auto-creation uses it; kcli's own
client does not: `SandboxThread(topics={"orders": 3})` has topics from the start. `sandbox.faults` injects faults:
`sandbox.faults.error("Produce", code)`, `sandbox.faults.wire.delay("Fetch", 0.5)`, `sandbox.faults.cluster.…`,
`sandbox.faults.logs.…`, `sandbox.faults.registry.…`. To configure the sandbox of a test, mark it with
`@pytest.mark.kcli_sandbox(registry=True, topics={"orders": 3})`, which takes the fields of
`kcli.sandbox.SandboxSettings`, like `kcli.sandbox.Sandbox` and `kcli.sandbox.thread.SandboxThread`. The schema registry
is then at `sandbox.registry_url`.

A test fails if kcli's own client violates the protocol (see wire/client_rules.py), unless it is marked
`@pytest.mark.kcli_violates`: then the test checks `sandbox.violations` itself. Other clients are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.sandbox.thread import SandboxThread


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kcli_violates: kcli may break the rules of the protocol in this test")
    config.addinivalue_line("markers", "kcli_sandbox(**settings): the settings of this test's fixture `kcli_sandbox`")


@pytest.fixture
def kcli_sandbox(request: pytest.FixtureRequest) -> Iterator[SandboxThread]:
    """An embedded Kafka cluster; see kcli.sandbox."""
    from kcli.sandbox.thread import SandboxThread

    marker = request.node.get_closest_marker("kcli_sandbox")
    with SandboxThread(**(marker.kwargs if marker is not None else {})) as running:
        yield running
        violations = running.violations
    if violations and request.node.get_closest_marker("kcli_violates") is None:
        pytest.fail("kcli broke the rules of the protocol: " + "; ".join(violations), pytrace=False)
