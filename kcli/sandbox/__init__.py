"""The sandbox: an embedded Kafka cluster for experiments and tests. Loopback only, and insecure by default."""

from __future__ import annotations

from kcli.sandbox.sandbox import Sandbox
from kcli.sandbox.settings import SandboxSettings

__all__ = ["Sandbox", "SandboxSettings"]
