"""With the clusters of profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.actions.acts import Act
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.tui.screens.page import Page


def of_cluster(page: Page, name: str, open_it: Callable[[], object], refresh: Callable[[], object]) -> list[Act]:
    """With the cluster of a profile. Nothing of it is changed from here."""
    word = quoted(name)
    doctor, shown = f"kcli doctor --profile {word}", f"kcli config show {word}"
    return [
        Act("o", "Open it", f"kcli tui --profile {word}", open_it, elsewhere=True),
        Act("r", "Refresh all", "", refresh),
        Act("d", "Copy: diagnose its connection", doctor, lambda: page.copy(doctor), elsewhere=True),
        Act("s", "Copy: show its settings", shown, lambda: page.copy(shown), elsewhere=True),
    ]
