"""With subjects of the schema registry and their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.actions.acts import Act, of_change
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from kcli.tui.screens.page import Page


def of_subject(page: Page, subject: str, level: str) -> list[Act]:
    """With a subject. `level` is its compatibility level, "" while that is not known: it cannot be changed then, for an
    empty field in the dialog removes it."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.schemas import DeleteSubject, SetLevel

    option = page.session.registry_option
    shown = f"kcli registry versions {quoted(subject)}{option}"
    acts = [
        Act("o", "Its versions", shown, lambda: page.go(routes.Subject(subject))),
        of_change("D", "Delete the subject …", DeleteSubject(subject, option=option), page.begin),
    ]
    if level:
        acts.insert(1, of_change("c", "Change its compatibility level …", SetLevel(subject, level, option), page.begin))
    return acts


def of_version(page: Page, subject: str, version: int | None, level: str) -> list[Act]:
    """With a version of a subject; None offers nothing."""
    from kcli.tui.actions.changes.schemas import DeleteSubject

    if version is None:
        return []
    change = DeleteSubject(subject, version, page.session.registry_option)
    return [of_change("d", f"Delete version {version} …", change, page.begin), *of_subject(page, subject, level)[1:]]
