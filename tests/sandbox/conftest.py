"""The plugin's fixture, when kcli is run from its source tree without being installed."""

from __future__ import annotations

from kcli.sandbox.pytest import sandbox

__all__ = ["sandbox"]
