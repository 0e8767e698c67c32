"""The sandbox: an embedded Kafka cluster for trying things out and for tests. Loopback only, no security."""

from __future__ import annotations

from kcli.sandbox.sandbox import Sandbox

__all__ = ["Sandbox"]
