"""Keys of `keys.toml` that another binding has too: which one wins, and where the others stay."""

from __future__ import annotations

import os

from textual.binding import Binding

from kcli.tui.actions.keys import QUITS, every, path

DIALOGS = frozenset({"command", "dialog", "fault", "help", "menu", "produce", "seek"})
"""Kinds whose keys hold while nothing else does."""


def taken(keymap: dict[str, str]) -> list[str]:
    """Keys of the file that another binding has too, a sentence each: which one wins, and where the others stay.
    What is focused goes before its screen, and that before the dashboard."""
    known = every() if keymap else {}
    on = {name: _split(keymap.get(name, known.keys)) for name, known in known.items()}
    lost: dict[tuple[str, str], list[str]] = {}
    for name in known:
        for other in known:
            for key in on[name] if name != other and (name in keymap or other in keymap) else ():
                if key in on[other] and _goes_before(name, other, keymap):
                    lost.setdefault((name, key), []).append(other)
    gone = {(other, key) for (_, key), others in lost.items() for other in others}
    told, lines = [], _lines()
    for (name, key), others in lost.items():
        stays = {other: [key for key in on[other] if (other, key) not in gone] for other in others}
        if "app.quit" in stays and QUITS not in stays["app.quit"]:
            stays["app.quit"].append(QUITS)
        said = [
            f"{name} ({'stays on ' + ', '.join(keys) if keys else 'no key is left'})" for name, keys in stays.items()
        ]
        line = next((lines[one] for one in (name, *others) if one in keymap and one in lines), 0)
        told.append(f"{path()}:{line}: {key} is taken: {name} goes before {', '.join(said)}")
    return told


def _goes_before(name: str, other: str, keymap: dict[str, str]) -> bool:
    """Whether both can be meant by a key, and the first is."""
    one, two = name.partition(".")[0], other.partition(".")[0]
    if one == two or DIALOGS & {one, two} or {name, other} == {"app.pause", "replay.play"}:
        return False
    first, second = _depth(name), _depth(other)
    if first == second == 1 and "page" not in (one, two):
        return False  # of two screens
    return first < second or (first == second and name in keymap and other not in keymap)


def _depth(name: str) -> int:
    if name == "app.palette":  # which has priority
        return -1
    return {"rows": 0, "app": 2, "replay": 2}.get(name.partition(".")[0], 1)


def _split(keys: str) -> list[str]:
    """As Textual names them: `+` is plus."""
    bindings = [Binding(key, "none") for key in keys.split(",") if key]
    return [binding.key for binding in Binding.make_bindings(bindings)]


def _lines() -> dict[str, int]:
    """In which line of the file each id is."""
    found: dict[str, int] = {}
    table = ""
    if not os.path.exists(path()):
        return found
    with open(path(), encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            head = text.strip().partition("=")[0].translate({ord(sign): None for sign in "\"' \t"})
            if head.startswith("["):
                table = head.strip("[]").partition("]")[0] + "."
            else:
                found.setdefault(table + head, number)
    return found
