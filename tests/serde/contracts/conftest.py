"""What holds for every test of rules holds for those that encrypt."""

from __future__ import annotations

from tests.serde.rules.conftest import limit, one_set_of_authorities

__all__ = ["limit", "one_set_of_authorities"]
