"""How often a random test tries: `make quick` (KCLI_QUICK=1) plays a quarter of what `make test` does."""

from __future__ import annotations

import os

QUICK = bool(os.environ.get("KCLI_QUICK"))


def tries(count: int) -> int:
    return max(1, count // 4) if QUICK else count
