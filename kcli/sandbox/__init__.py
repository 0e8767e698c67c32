"""The sandbox: an embedded Kafka cluster for trying things out and for tests. Loopback only, no security."""

from __future__ import annotations

from kcli.sandbox.sandbox import Sandbox
from kcli.sandbox.settings import SandboxSettings

__all__ = ["Sandbox", "SandboxSettings"]
