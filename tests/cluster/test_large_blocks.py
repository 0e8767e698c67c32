"""Freed megabyte blocks are kept, which one block does for the whole process: another would be cleared, 31 MB of it."""

from __future__ import annotations

import pytest

from kcli import client
from kcli.settings import ClientSettings, parse_bootstrap


def test_a_second_client_clears_no_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks: list[int] = []
    monkeypatch.setattr(client, "bytes", blocks.append, raising=False)
    monkeypatch.setattr(client, "_kept", False)
    for _ in range(2):
        client.Client(ClientSettings(bootstrap=parse_bootstrap("localhost")))
    assert blocks == [client.LARGEST_KEPT]
