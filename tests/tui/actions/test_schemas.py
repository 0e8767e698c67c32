"""Changes of schemas that are not offered, or not planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from kcli.errors import UsageError
from kcli.registry.listing.opened import OpenRegistry
from kcli.registry.settings import RegistrySettings
from kcli.tui.actions.changes.schemas import DeleteSubject, SetLevel
from kcli.tui.actions.menus import of_subject


def test_a_level_is_changed_once_it_is_known() -> None:
    page: Any = MagicMock()
    page.session.registry_option = ""
    assert [act.key for act in of_subject(page, "orders-value", "")] == ["o", "D"]
    assert [act.key for act in of_subject(page, "orders-value", "FULL")] == ["o", "c", "D"]


@pytest.mark.parametrize(
    "change", [DeleteSubject("orders-value"), DeleteSubject("orders-value", 1), SetLevel("orders-value")]
)
async def test_no_change_of_a_folder_is_planned(change: Any, tmp_path: Path) -> None:
    version = tmp_path / "subjects/orders-value/1.avsc"
    version.parent.mkdir(parents=True)
    version.write_text('"string"')
    registry = OpenRegistry(RegistrySettings(folder=str(tmp_path), kind="file"))
    assert await registry.client.versions("orders-value") == [1]
    try:
        with pytest.raises(UsageError, match="is a folder, which kcli can only read"):
            await change.plan(registry, {"level": "FULL"})
    finally:
        await registry.close()
