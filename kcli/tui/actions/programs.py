"""The user's own editor and pager, with the arguments that `$VISUAL`, `$EDITOR` and `$PAGER` have, for a record or the
configs of a topic or a broker."""

from __future__ import annotations

import os
import shlex
import tempfile
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported

from kcli.errors import KcliError
from kcli.security.child import environment
from kcli.system.files import read
from kcli.system.processes import in_foreground
from kcli.tui.records.editing import can_be_edited, in_lines, on_one_line, wrong_json
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import App

    from kcli.admin.configs import Config
    from kcli.tui.screens.page import Page
    from kcli.tui.tail import Seen


MOST = 64 << 20
"""Bytes that are taken over from the editor."""


def editor() -> list[str]:
    """The words that begin the editor."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")


def pager() -> list[str]:
    """The words that begin the pager."""
    return shlex.split(os.environ.get("PAGER") or "less")


def edited(app: App[Any], text: str, ending: str) -> str:
    """A text as the user's editor leaves it. Raises KcliError where the editor cannot run, fails, or leaves more than a
    record may have."""
    with _Temporary(text, ending) as path:
        _run(app, [*editor(), path])
        try:
            found = read(path, MOST).decode("utf-8", "surrogateescape")
        except OSError as problem:
            raise KcliError(f"the edited file cannot be read: {problem.strerror}") from None
    return found if text.endswith("\n") else found.removesuffix("\n")  # editors end the last line


def show(app: App[Any], text: str, ending: str) -> None:
    """Show a text in the user's pager. Raises KcliError where the pager cannot run, or fails."""
    with _Temporary(text, ending) as path:
        _run(app, [*pager(), path])


class _Temporary:
    """A file that only this user can read, for as long as the program runs."""

    def __init__(self, text: str, ending: str) -> None:
        fd, self._path = tempfile.mkstemp(prefix="kcli-", suffix=ending)
        with open(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)

    def __enter__(self) -> str:
        return self._path

    def __exit__(self, *_: object) -> None:
        if os.path.exists(self._path):
            os.unlink(self._path)


def _run(app: App[Any], words: Sequence[str]) -> None:
    try:
        with app.suspend():
            code = in_foreground(words, environment())
    except SuspendNotSupported:
        raise KcliError("this terminal cannot run another program") from None
    except OSError as problem:
        raise KcliError(f"{words[0]}: {problem.strerror}; $EDITOR and $PAGER name the programs") from None
    app.refresh()
    if code:
        raise KcliError(f"{words[0]} failed with exit code {code}: nothing was changed")


# -- what there is to show and edit -----------------------------------------------------------------------------------


def action_view(page: Page) -> None:
    """Open the record, or the configs, of a page in the pager."""
    record, configs = _record(page), _configs(page)
    if record is not None:
        record = page.as_shown(record)
        show(page.app, _value(record), ".json" if can_be_edited(_text(record)) else ".txt")
    elif configs:
        show(page.app, properties(configs, documented=True), ".properties")
    else:
        raise KcliError("the pager can open a record or configs, but the cursor is on neither")


def action_edit(page: Page) -> None:
    """Edit the record, or the overrides, of a page; what was changed is in the form, or the plan, then."""
    from kcli.tui.actions.changes.topics import AlterConfigs
    from kcli.tui.actions.producing import draft_of, named

    record, configs = _record(page), _configs(page)
    if page.refused("editing"):
        return
    if record is not None and named(record):
        raise KcliError("this record was written with a schema: e opens it as JSON, then ctrl+e opens the editor")
    if record is not None:
        before = _value(record)
        after = edited(page.app, before, ".json" if can_be_edited(_text(record)) else ".txt")
        draft = draft_of(record)
        if after != before:
            whole = can_be_edited(draft.value or "") and wrong_json(after) is None
            draft.value = on_one_line(after, draft.value or "") if whole else after
            page.produce(record.topic, draft)
        else:
            page.notify("Nothing was changed in the editor.", timeout=3, markup=False)
    elif configs:
        at = page.resource
        words = changes(configs, edited(page.app, properties(configs), ".properties"))
        if words and at is not None:
            page.begin(AlterConfigs(at, text=" ".join(words)))
        else:
            page.notify("Nothing was changed in the editor.", timeout=3, markup=False)
    else:
        raise KcliError("the editor can open a record or configs, but the cursor is on neither")


def _record(page: Page) -> Seen | None:
    """The record of a page, or the one under its cursor."""
    from kcli.tui.tail import Seen

    found = getattr(page.route, "seen", None) or next((rows.row for rows in page.tables if rows.row is not None), None)
    return found if isinstance(found, Seen) else None


def _configs(page: Page) -> list[Config]:
    """The configs that a page shows now."""
    return [row for rows in page.tables if rows.id == "configs" for row in rows.shown]


def _text(record: Seen) -> str:
    return (record.value or b"").decode("utf-8", "surrogateescape")


def _value(record: Seen) -> str:
    text = _text(record)
    return in_lines(text) if can_be_edited(text) else text


def properties(configs: Sequence[Config], *, documented: bool = False) -> str:
    """The overrides as lines of `name=value`; all others, with their values, as comments."""
    lines = []
    for config in configs:
        if documented and config.documentation:
            lines.append(f"# {printable(config.documentation)}")
        if config.secret or config.read_only:
            lines.append(f"# {config.name} cannot be {'shown' if config.secret else 'changed'}")
        else:
            line = f"{config.name}={printable(config.value or '')}"
            lines.append(line if config.set_here else f"# {line}")
    return "\n".join([*lines, ""])


def changes(configs: Sequence[Config], text: str) -> list[str]:
    """What lines of `name=value` change, as words of the config dialog; an override without its line is removed. Raises
    KcliError."""
    wanted = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if line.strip() and not line.lstrip().startswith("#"):
            if not equals:
                raise KcliError(f"{line.strip()}: expected KEY=VALUE, or # before a comment")
            wanted[name.strip()] = value.strip()
    now = {
        one.name: printable(one.value or "") for one in configs if one.set_here and not (one.secret or one.read_only)
    }
    words = [f"{name}={value}" for name, value in wanted.items() if now.get(name) != value]
    return [*map(shlex.quote, words), *(f"{name}=" for name in now.keys() - wanted)]
