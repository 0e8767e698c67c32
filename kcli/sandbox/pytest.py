"""The pytest plugin: a fixture `kcli_sandbox`, a fresh cluster of one broker for each test, in a thread of its own.

Its names begin with `kcli_`, so that they collide with nothing in other people's suites; a `conftest.py` can have a
shorter one: `from kcli.sandbox.pytest import kcli_sandbox as sandbox`.

Clients connect to `sandbox.bootstrap`. A topic is created when a client that asks for it names it; kcli's own client
does not ask: `SandboxThread(topics={"orders": 3})` has topics from the start. `sandbox.faults` injects faults:
`sandbox.faults.error("Produce", code)`, `sandbox.faults.wire.delay("Fetch", 0.5)`, `sandbox.faults.cluster.…`,
`sandbox.faults.logs.…`, `sandbox.faults.registry.…`. A test that needs another sandbox says which:
`@pytest.mark.kcli_sandbox(registry=True, topics={"orders": 3})` takes the fields of `kcli.sandbox.SandboxSettings`, as
`kcli.sandbox.Sandbox` and `kcli.sandbox.thread.SandboxThread` do; a schema registry is then at `sandbox.registry_url`.

A test in which kcli's own client broke the rules of the protocol fails (see wire/client_rules.py), unless it is marked
`@pytest.mark.kcli_violates`: then the test reads `sandbox.violations` itself. Other clients are not judged.
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
