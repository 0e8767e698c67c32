"""`make recordings`: terminal sessions of docs/recordings, the same bytes each time.

A session of the dashboard is keys and what it draws after them: its picture is animated. Of a session of commands each
line runs in this process on a terminal of its own, against a fresh sandbox. Every session is written twice: as an
asciicast, which `asciinema play` shows, and as an SVG picture of the whole session. Pauses are made up, times of
records are fixed and shown in UTC.
"""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import os
import pty
import re
import struct
import sys
import tempfile
import termios
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.text import Text
from textual.widgets import Input

from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread
from kcli.tui.app import Dashboard
from kcli.tui.replay import ReplaySession
from kcli.tui.routes import find
from tests.cli.conftest import redirected
from tests.lines import Lines, Stage
from tests.tui import pictures
from tests.tui.conftest import repaint, shows, until
from tests.tui.picture_font import portable

FOLDER = Path(__file__).parents[1] / "docs" / "recordings"
WIDTH, HEIGHT = 100, 30
BEGUN = 1_795_265_117_000  # ms: the first record, as in the dashboard's pictures
KEY, ANSWER, NEXT = 0.05, 0.3, 1.5  # seconds: between two keys, before the output, after it
SHOWN = 3  # seconds of a screen
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""The only escape sequences that a picture shows."""


@dataclass(frozen=True)
class Recording:
    """What is recorded, after the lines that only set it up."""

    title: str
    setup: tuple[str, ...]
    lines: tuple[str, ...]


RECORDINGS = {
    "first-minute": Recording(
        "The first minute",
        (),
        (
            "kcli topics create orders -p 3",
            "kcli produce orders --input json < orders.ndjson",
            "kcli tail orders -n 4 --no-follow",
            "kcli consume orders -e --where 'value.total > 140' -f '%p %o %k %s\\n'",
            "kcli consume orders -g billing --from-beginning -n 45 > seen.txt",
            "kcli groups why billing",
        ),
    ),
    "rewind": Recording(
        "Rewind a group, and undo it",
        (
            "kcli topics create orders -p 3",
            "kcli produce orders --input json < orders.ndjson",
            "kcli groups reset billing -t orders --to-latest --create --execute --no-undo",
        ),
        (
            "kcli lag billing --by partition",
            "kcli groups reset billing -t orders --to @2026-11-21T12:45:37Z --execute --undo-file undo.json",
            "kcli lag billing",
            "kcli groups reset --from-file undo.json --execute --no-undo",
        ),
    ),
}


@dataclass(frozen=True)
class Screens:
    """A session of the dashboard: the page it begins with, of a sandbox, or "" for the recording of `kcli demo`; keys,
    each time with words that are there then."""

    title: str
    place: str
    steps: tuple[tuple[tuple[str, ...], str], ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The keys of each step, as people write them."""
        return tuple("".join(NAMES.get(key, key) for key in keys) or "kcli tui" for keys, _ in self.steps)


NAMES = {
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "escape": "esc ",
    "enter": "⏎",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "slash": "/",
}
DASHBOARD = {
    "why": Screens(
        "Why a group lags",
        "",
        (((), "ledger"), (("down", "enter"), "Group fraud"), (("left",) * 9, "in 40/s"), (("4",), "is now STUCK")),
    ),
    "past": Screens(
        "Back in time",
        "",
        (
            ((), "ledger"),
            (("less_than_sign",), "12:46:35"),
            (("less_than_sign",), "12:46:11"),
            (("greater_than_sign",), "12:46:35"),
        ),
    ),
    "undo": Screens(
        "Change a config, and undo it",
        "topic orders",
        (
            ((), "Partitions"),
            (("3", "a", "c"), "Change configs"),
            (tuple("retention.ms=3d"), "would change"),
            (("enter", *"orders", "enter"), "1 done"),
            (("escape", "z"), "Undo change 1"),
            (("enter",), "1 done"),
        ),
    ),
    "heatmap": Screens(
        "The lag of every partition",
        "",
        (((), "ledger"), (("H",), "PARTITIONS"), (("right", "right"), "[2]"), (("4",), "time lag by topic")),
    ),
    "search": Screens(
        "Search a topic",
        "records orders",
        (
            ((), '"order"'),
            (("slash", *"items > 6 and order < 400"), "items > 6 and order < 400"),
            (("enter", "g"), "searched 685 of"),
            (("enter",), "Decoded"),
        ),
    ),
    "compare": Screens(
        "Compare two records",
        "records payments",
        (((), '"payment": 59'), (("up", "up", "m", "m"), "2 marked"), (("d",), "lines differ")),
    ),
}


def orders() -> str:
    """Sixty orders, a second apart, as envelopes."""
    return "".join(
        json.dumps({
            "key": f"customer-{n * 7 % 9}", "partition": n % 3, "timestamp": BEGUN + 1000 * n,
            "value": json.dumps({"order": n, "items": 1 + n % 4, "total": n * 2.5}),
        })
        + "\n"
        for n in range(60)
    )  # fmt: skip


class OnTerminal(Lines):
    """Runs kcli on a terminal: what is printed has its colours."""

    def _inside(self, stage: Stage, data: bytes, width: int) -> tuple[int, bytes, bytes]:
        seen, master, slave = bytearray(), *pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        reader = threading.Thread(target=_read_all, args=(master, seen))
        reader.start()
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, pytest.MonkeyPatch.context() as patch:
            given.write(data)
            given.seek(0)
            patch.chdir(self.folder)
            for name, value in {**self.environment, **stage.variables}.items():
                patch.setenv(name, value)
            stdin = given.fileno() if data or "<" in stage.files else slave
            stdout = out.fileno() if ">" in stage.files else slave
            with redirected(stdin, stdout, slave):
                code = main(stage.words[1:])
            os.close(slave)
            reader.join()
            os.close(master)
            out.seek(0)
            return code, out.read() if ">" in stage.files else bytes(seen), bytes(seen) if ">" in stage.files else b""


def _read_all(master: int, seen: bytearray) -> None:
    """Take what is written to the terminal until nobody has it open."""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: the other side is closed
            return
        seen += piece


def record(recording: Recording, folder: Path) -> list[tuple[str, str]]:
    """Each line with what the terminal showed. Raises AssertionError where a line fails."""
    shown = []
    with SandboxThread(rebalance_delay=0) as sandbox:
        lines = OnTerminal(folder, KCLI_BOOTSTRAP=sandbox.bootstrap, TERM="xterm-256color", TZ="UTC")
        (folder / "orders.ndjson").write_text(orders())
        for line in (*recording.setup, *recording.lines):
            done = lines.run(line)
            assert done.code == 0, (line, done)
            shown.append((line, done.out + done.err))
    return shown[len(recording.setup) :]


def cast(recording: Recording, shown: list[tuple[str, str]]) -> str:
    """An asciicast, version 2; a marker names each line."""
    events: list[tuple[float, str, str]] = []
    now = 0.5
    for line, output in shown:
        events.append((now, "m", line))
        for char in f"$ {line}":
            events.append((now, "o", char))
            now += KEY
        now += ANSWER
        events.append((now, "o", f"\r\n{output}"))
        now += NEXT
    rows = [head(recording.title), *([round(when, 2), kind, text] for when, kind, text in events)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def picture(name: str, recording: Recording, shown: list[tuple[str, str]]) -> str:
    """The whole session as SVG. Raises AssertionError for output that moves the cursor."""
    text = "".join(f"\x1b[1;32m$\x1b[0m \x1b[1m{line}\x1b[0m\n{output}" for line, output in shown).replace("\r\n", "\n")
    plain = COLOUR.sub("", text)
    assert all(char.isprintable() or char == "\n" for char in plain), repr(plain)
    console = Console(width=WIDTH, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(text.rstrip("\n")), soft_wrap=False)
    return portable(console.export_svg(title=f"kcli: {recording.title}", unique_id=name))


async def played(app: Dashboard, screens: Screens) -> list[tuple[str, str]]:
    """After each step the screen: as SVG, and as a terminal gets it."""
    found = []
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None)
        for (keys, words), line in zip(screens.steps, screens.lines, strict=True):
            await pilot.press(*keys)
            await shows(pilot, words)
            for box in app.screen.query(Input):
                box.cursor_blink = False
            await pictures.settled(pilot)
            found.append((app.export_screenshot(title=f"{screens.title}:  {line}"), repaint(app)))
    return found


def screens(bootstrap: str, screens: Screens) -> list[tuple[str, str]]:
    """A session of the dashboard."""
    if screens.place:
        still = pictures.still(bootstrap)
        app = still.board = Dashboard(still, place=find(screens.place))
        return asyncio.run(played(app, screens))
    with pictures.recording() as path:
        return asyncio.run(played(Dashboard(ReplaySession(path)), screens))


def animated(svgs: list[str]) -> str:
    """Pictures of one size, one after another, for ever; the last one where nothing moves."""
    head, _, _ = svgs[0].partition(">")
    whole, rules, each = len(svgs) * SHOWN, [], 100 / len(svgs)
    for n in range(len(svgs)):
        usual = "visible" if n == len(svgs) - 1 else "hidden"
        rules.append(f".step{n} {{ animation: step{n} {whole}s step-end infinite; visibility: {usual}; }}")
        hidden = "0% { visibility: hidden; } " * bool(n)
        shown, gone = f"{n * each:g}% {{ visibility: visible; }}", f"{(n + 1) * each:g}% {{ visibility: hidden; }}"
        rules.append(f"@keyframes step{n} {{ {hidden}{shown} {gone} }}")
    steps = [svg.partition(">")[2].rpartition("</svg>")[0] for svg in svgs]
    drawn = "\n".join(f'<g class="step{n}">{step}</g>' for n, step in enumerate(steps))
    return portable(f"{head}>\n<style>\n{chr(10).join(rules)}\n</style>\n{drawn}\n</svg>\n")


def write_screens(folder: Path) -> None:
    """The sessions of the dashboard into the folder."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr("kcli.sandbox.cluster.cluster.b2a_base64", lambda *_, **__: b"demo")  # the id of the cluster
        sandbox = stack.enter_context(SandboxThread())
        clock = SimpleNamespace(time_ns=lambda: BEGUN * 1_000_000, monotonic=time.monotonic, sleep=time.sleep)
        patch.setattr("kcli.changes.journal.time", clock)
        patch.setattr("kcli.changes.journal._user", lambda: "ann")
        patch.setattr("kcli.tui.dialogs.undo.elapsed", lambda seconds: "4s")
        patch.setenv("XDG_STATE_HOME", stack.enter_context(tempfile.TemporaryDirectory()))
        patch.setenv("TZ", "UTC")
        time.tzset()
        asyncio.run(pictures.seed(sandbox.bootstrap))
        for name, recording in DASHBOARD.items():
            shown = screens(sandbox.bootstrap, recording)
            (folder / f"{name}.svg").write_text(animated([svg for svg, _ in shown]))
            events = [
                [SHOWN * n, kind, text]
                for n, (line, (_, drawn)) in enumerate(zip(recording.lines, shown, strict=True))
                for kind, text in (("m", line), ("o", drawn))
            ]
            (folder / f"{name}.cast").write_text(
                "".join(json.dumps(row) + "\n" for row in [head(recording.title), *events])
            )
            sys.stderr.write(f"{folder / name}.cast and .svg\n")
    time.tzset()


def head(title: str) -> dict[str, object]:
    """The first line of an asciicast."""
    return {"version": 2, "width": WIDTH, "height": HEIGHT, "title": title}


def write(folder: Path) -> None:
    """All recordings into the folder."""
    folder.mkdir(exist_ok=True)
    write_screens(folder)
    for name, recording in RECORDINGS.items():
        with tempfile.TemporaryDirectory() as home:
            shown = record(recording, Path(home))
        (folder / f"{name}.cast").write_text(cast(recording, shown))
        (folder / f"{name}.svg").write_text(picture(name, recording, shown))
        sys.stderr.write(f"{folder / name}.cast and .svg\n")


if __name__ == "__main__":
    write(FOLDER)
