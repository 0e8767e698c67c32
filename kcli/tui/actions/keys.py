"""Every key there is, by the id of what it does, and the file that changes them: `keys.toml` beside `config.toml`.

"group.reset" = "R"
"rows.down" = "down,j,ctrl+n"
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any

from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.keys import Keys

from kcli.errors import UsageError
from kcli.paths import config_folder
from kcli.system import files
from kcli.text.suggest import did_you_mean
from kcli.values import Value

QUITS = "ctrl+q"
"""Textual's own, before every other key: whatever a file says, there is a way out."""
MODIFIERS = ("ctrl+", "alt+", "shift+", "super+")
NAMED = frozenset(key.value for key in Keys) | {"space", "enter", "tab", "escape", "backspace"}


EVERYWHERE: list[BindingType] = [
    Binding("comma", "step(-1)", "Earlier", show=False, id="replay.back", key_display=","),
    Binding("full_stop", "step(1)", "Later", show=False, id="replay.on", key_display="."),
    Binding("less_than_sign", "step(-12)", "Much earlier", show=False, id="replay.far_back", key_display="<"),
    Binding("greater_than_sign", "step(12)", "Much later", show=False, id="replay.far_on", key_display=">"),
    Binding("minus", "faster(-1)", "Slower", show=False, id="replay.slower", key_display="-"),
    Binding("plus,equals_sign", "faster(1)", "Faster", show=False, id="replay.faster", key_display="+"),
    Binding("question_mark", "help", "Help", id="app.help", key_display="?"),
    Binding("colon", "command", "Go", id="app.command", key_display=":"),
    Binding("ctrl+g", "place('groups')", "Groups", show=False, id="app.groups"),
    Binding("ctrl+t", "place('topics')", "Topics", show=False, id="app.topics"),
    Binding("ctrl+b", "place('brokers')", "Brokers", show=False, id="app.brokers"),
    Binding("H", "place('heatmap')", "Heatmap", show=False, id="app.heatmap"),
    Binding("exclamation_mark", "place('alerts')", "Alerts", show=False, id="app.alerts", key_display="!"),
    Binding("ctrl+f", "place('faults')", "Sandbox faults", show=False, id="app.faults"),
    Binding("ctrl+p", "command_palette", "Palette", show=False, id="app.palette", priority=True),
    Binding("space", "pause", "Pause", id="app.pause"),
    Binding("space", "play", "Play", id="replay.play"),
    Binding("q", "quit", "Quit", id="app.quit"),
    Binding("alt+q", "quit", show=False),  # escape and q, where they come together
    Binding("ctrl+c", "interrupt", "Quit, or copy what is marked", show=False, id="app.interrupt", priority=True),
    Binding("ctrl+z", "suspend", "To the background", show=False, id="app.suspend", priority=True),
]
"""The keys that work on every page."""
DIALOGS = frozenset(
    {"change", "command", "dialog", "export", "fault", "help", "menu", "produce", "progress", "reset", "seek", "undo"}
)
"""Kinds whose keys hold while nothing else does."""


class Known(Value):
    """A binding that can be changed: its id, its keys (with commas), what it does."""

    id: str = ""
    keys: str = ""
    what: str = ""


def every() -> dict[str, Known]:
    """All of them, in the order of their ids."""
    from kcli.tui import dialogs, navigation, screens, widgets

    keys = {known.id: known for known in _of(EVERYWHERE)}
    for package in (screens, dialogs, navigation, widgets):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            loaded = importlib.import_module(module.name)
            for kind in vars(loaded).values():
                if isinstance(kind, type) and issubclass(kind, DOMNode) and kind.__module__ == loaded.__name__:
                    keys |= {known.id: known for known in _of(vars(kind).get("BINDINGS", ()))}
    return dict(sorted(keys.items()))


def _of(bindings: Iterable[BindingType]) -> Iterator[Known]:
    for binding in bindings:
        if isinstance(binding, Binding) and binding.id is not None:
            yield Known(id=binding.id, keys=binding.key_display or binding.key, what=binding.description)


def path() -> str:
    """Where the file is looked for."""
    return os.environ.get("KCLI_KEYS") or os.path.join(config_folder(), "keys.toml")


def load() -> dict[str, str]:
    """The keymap of the user's file, by id; {} without the file. Raises UsageError for a file that cannot be read,
    an id that is none, a key that is none, and two things on one key."""
    where = path()
    if not os.path.exists(where):
        if os.environ.get("KCLI_KEYS"):
            raise UsageError(f"KCLI_KEYS: file not found: {where}")
        return {}
    import tomllib

    try:
        read = tomllib.loads(files.read_text(where, files.SETTINGS))
    except OSError as problem:
        raise UsageError(f"{where}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{where}: {problem}") from None
    return checked(dict(_flat(read)), where)


def _flat(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """`group.reset = …` is a table in TOML, `"group.reset" = …` is not: both are meant."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value


def checked(given: dict[str, Any], where: str) -> dict[str, str]:
    """The same, with keys as Textual names them. Raises UsageError."""
    known = every()
    found: dict[str, str] = {}
    for name, value in given.items():
        if name not in known:
            near = did_you_mean(name, known) or "; `kcli tui --keys` prints all ids"
            raise UsageError(f"{where}: unknown action {name}{near}")
        words = value if isinstance(value, list) else [value]
        if not all(isinstance(word, str) and word for word in words):
            raise UsageError(f'{where}: {name}: expected a key such as "R", "ctrl+n" or "down,j"')
        keys = [key for word in words for key in ([word] if word == "," else word.split(","))]
        for key in keys:
            if key.strip() == QUITS and name != "app.quit":
                raise UsageError(f"{where}: {name}: {QUITS} always quits; use another key")
            if not _is_key(key.strip()):
                raise UsageError(f"{where}: {name}: {key!r} is not a key{did_you_mean(key, NAMED)}")
        found[name] = ",".join("comma" if key == "," else key.strip() for key in keys)
    _no_clash(found, known, where)
    for one, other in (("app.pause", "replay.play"), ("replay.play", "app.pause")):
        if one in found:  # they share a key, and Textual takes a key from all that are on it
            found.setdefault(other, known[other].keys)
    return found


def _is_key(key: str) -> bool:
    plain = key
    for one in MODIFIERS:
        plain = plain.removeprefix(one)
    return (len(plain) == 1 and plain.isprintable()) or plain in NAMED


def _no_clash(given: dict[str, str], known: dict[str, Known], where: str) -> None:
    """On one screen no key has two bindings."""
    taken: dict[tuple[str, str], str] = {}
    for name, one in known.items():
        kind = name.partition(".")[0]
        for key in given.get(name, one.keys).split(","):
            other = taken.setdefault((kind, key), name)
            if other != name and (name in given or other in given):
                raise UsageError(f"{where}: {other} and {name} are both on {key}")


def listing(keymap: dict[str, str]) -> str:
    """What `kcli tui --keys` prints: id, keys, what it does, a line each."""
    rows = [(known.id, keymap.get(known.id, known.keys), known.what) for known in every().values()]
    first, second = (max(len(row[n]) for row in rows) for n in (0, 1))
    return "\n".join(f"{name:<{first}}  {keys:<{second}}  {what}" for name, keys, what in rows)


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
        told.append(f"{path()}:{line}: {key} is used more than once: {name} takes precedence over {', '.join(said)}")
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
    for number, text in enumerate(files.read_text(path(), files.SETTINGS).splitlines(), 1):
        head = text.strip().partition("=")[0].translate({ord(sign): None for sign in "\"' \t"})
        if head.startswith("["):
            table = head.strip("[]").partition("]")[0] + "."
        else:
            found.setdefault(table + head, number)
    return found
