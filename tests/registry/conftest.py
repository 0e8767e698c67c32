"""Registries, one process of each a session, started when a test asks for it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from kcli.registry.client import RegistryClient
from kcli.registry.settings import RegistrySettings
from kcli.security.http import Origin
from tests.registry.oracles import Apicurio, Oracle, SandboxRegistry, Srfake


@pytest.fixture(scope="session")
def apicurio() -> Iterator[Apicurio]:
    started = Apicurio()
    yield started.start()
    started.stop()


@pytest.fixture(scope="session")
def srfake() -> Iterator[Srfake]:
    started = Srfake()
    yield started.start()
    started.stop()


@pytest.fixture(scope="session")
def sandboxed() -> Iterator[SandboxRegistry]:
    started = SandboxRegistry()
    yield started.start()
    started.stop()


@pytest.fixture(params=["apicurio", "srfake", "sandboxed"])
def oracle(request: pytest.FixtureRequest, registry: None) -> Oracle:
    """Each of them."""
    found: Oracle = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["srfake", "sandboxed"])
def complete(request: pytest.FixtureRequest, registry: None) -> Oracle:
    """Each that has all of Confluent's API that kcli uses."""
    found: Oracle = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def registry() -> None:
    """What a test asks for that needs a registry of others: it is marked by this name."""


@pytest.fixture
async def client(oracle: Oracle) -> AsyncIterator[RegistryClient]:
    made = RegistryClient(RegistrySettings(origins=(Origin(url=oracle.url),)))
    yield made
    await made.close()


@pytest.fixture
def subject() -> Callable[[str], str]:
    """Names nobody has used."""
    return lambda name: f"{name}-{uuid.uuid4().hex[:12]}"
