"""Leaving in bounded time: PATIENCE seconds after the key the process ends, whatever it still waits for.

Closing waits for others: a page that is being made, the client's thread in the middle of a hundred thousand partitions,
a broker, a thread that looks up a name. Nothing of this is needed any more: what was seen is in its file already, and a
change is in the journal before it is sent. So a thread waits beside it, and ends the process. A last sentence reports a
change that this cuts.
"""

from __future__ import annotations

import asyncio
import os
import queue
import re
import threading
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rich.cells import get_character_cell_size
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers.linux_driver import LinuxDriver

from kcli import watchdog
from kcli.system.terminal import from_background, restore, settings
from kcli.tasks import retrieve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO

    from textual.worker import Worker

CHANGES = "execute"
"""The group of the workers that change the cluster."""
PATIENCE = 2.0
"""Seconds from the key to the end of the process."""
LAST = 0.5
"""Seconds more that a terminal has which reads nothing."""
STUCK_AFTER = 1.0
"""Seconds that a terminal which reads nothing has for the last texts of a dashboard that is being left."""


# Textual's driver for terminals that go away, or read nothing while the dashboard is left.
#
# Textual writes in a thread, behind a queue of thirty texts. The thread ends at the first error of the terminal; what
# is drawn after it fills the queue, and the process waits for ever. So it does where it is left while nothing is read.
class Mortal:
    """A terminal's file. After its first error it takes everything and writes nothing."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._gone = False

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()

    def write(self, text: str) -> None:
        if not self._gone:
            try:
                self._file.write(text)
            except OSError:
                self._gone = True  # SIGHUP, or the end of its input, tells the dashboard

    def flush(self) -> None:
        if not self._gone:
            try:
                self._file.flush()
            except OSError:
                self._gone = True


STYLED = re.compile(r"\x1b\[([\d;]*)m")
BLANK = re.compile(r"[ \n]+")
PLACED = re.compile(r"(?=\x1b\[\d+;\d+H)")
INKLESS = frozenset(("1", "2", "3"))  # bold, dim and italic change nothing about a space


@lru_cache(4096)
def _parts(codes: str) -> tuple[str, str, str]:
    """Foreground, background and the rest of a style."""
    colours, rest, left = {"3": "", "4": ""}, [], codes.split(";")
    while left:
        code = left.pop(0)
        if code in ("38", "48"):
            many = 4 if left[:1] == ["2"] else 2
            colours[code[0]] = ";".join([code, *left[:many]])
            left = left[many:]
        elif len(code) > 1 and code[0] in "39":
            colours["3"] = code
        elif len(code) > 1:
            colours["4"] = code
        elif code not in ("", "0"):
            rest.append(code)
    return colours["3"], colours["4"], ";".join(rest)


@lru_cache(4096)
def _change(before: str, now: str, blank: bool) -> tuple[str, str]:
    """The codes that lead from one style to another, and the style that is in force then."""
    (ink, ground, rest), (new_ink, new_ground, new_rest) = _parts(before), _parts(now)
    if blank and INKLESS.issuperset(f"{rest};{new_rest}".strip(";").split(";") if rest or new_rest else ()):
        new_ink, new_rest = ink, rest
    after = ";".join(filter(None, (new_rest, new_ink, new_ground)))
    anew = f"0;{after}" if after else "0"
    if rest and rest != new_rest:
        return anew, after
    changes = [new_rest if new_rest != rest else "", (new_ink or "39") if new_ink != ink else ""]
    changes.append((new_ground or "49") if new_ground != ground else "")
    return min(";".join(filter(None, changes)), anew, key=len), after


def compact(text: str) -> str:
    """The same picture in fewer bytes: of a style only what changes, and nothing of it that a blank does not show.
    Textual writes every piece with its whole style and takes it back: 70 % of what it writes."""
    pieces = STYLED.split(text)
    if len(pieces) == 1:
        return text
    out, now = [pieces[0]], ""
    for codes, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        if piece:
            change, now = _change(now, codes, BLANK.fullmatch(piece) is not None)
            out.append(f"\x1b[{change}m{piece}" if change else piece)
    return "".join([*out, "\x1b[0m"] if now else out)


Cell = tuple[str, str]
"""A letter ("" in the second cell of a wide one) and the codes of its style."""
PLACE = re.compile(r"\x1b\[(\d+);(\d+)H")
NEAR = 8
"""Cells that are cheaper to write again than a jump over them."""


def cells_of(text: str) -> list[Cell] | None:
    """The cells that a text fills; None where it does more than that."""
    pieces = STYLED.split(text)
    found: list[Cell] = []
    for codes, piece in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        if piece.isascii():
            found += [(letter, codes) for letter in piece]
            continue
        for letter in piece:
            width = get_character_cell_size(letter)
            if width:
                found += [(letter, codes), ("", codes)][:width]
            elif found:
                found[-1] = found[-1][0] + letter, found[-1][1]
    return None if any(letter < " " for letter, _ in found if letter) else found


def changes(row: list[Cell | None], begins: int, cells: list[Cell]) -> list[tuple[int, int]]:
    """The spans of new cells that differ from a row."""
    spans: list[tuple[int, int]] = []
    for n, cell in enumerate(cells):
        if row[begins + n] != cell:
            if spans and n - spans[-1][1] < NEAR:
                spans[-1] = spans[-1][0], n + 1
            else:
                spans.append((n, n + 1))
    return [(first - (not cells[first][0] and first > 0), last) for first, last in spans]


def _written(number: int, begins: int, cells: list[Cell], first: int) -> str:
    """The text that puts cells in their place in a row."""
    styled = (f"\x1b[{codes}m{''.join(letter for letter, _ in some)}" for codes, some in groupby(cells, itemgetter(1)))
    return f"\x1b[{number};{begins + first + 1}H{compact(''.join(styled))}"


class TerminalDriver(LinuxDriver):
    """The last texts of a dashboard wait STUCK_AFTER seconds for a terminal that reads nothing, all together."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._file = Mortal(self._file)  # type: ignore[assignment, arg-type]
        self._leaving = False
        self._is_stuck = False
        self._frame: list[str] = []  # the pieces of a frame that is not complete
        self._rows: dict[int, tuple[str, list[Cell | None]]] = {}  # the last text of each, and its cells where known

    def write(self, data: str) -> None:
        """The three texts of a frame go as one: each would wake the writing thread, and the next key wait for it."""
        if self._leaving:
            self._put(data)
            return
        data = self._news(data)
        if not data:
            return
        if data == SYNC_START:
            self._frame = [data]
        elif not self._frame:
            super().write(data)
        else:
            self._frame.append(data)
            if data == SYNC_END:
                whole, self._frame = "".join(self._frame), []
                super().write(whole)

    def forget(self) -> None:
        """Write every row anew: the terminal may have moved them."""
        self._rows.clear()

    def _news(self, data: str) -> str:
        """What to write of a text: no cells that are there already. Textual draws all of them several times when a
        dialog opens."""
        first, *rows = PLACED.split(data)
        if "\x1b[?1049" in first or "J" in first:
            self.forget()
        return "".join([compact(first), *map(self._new_cells, rows)])

    def _new_cells(self, text: str) -> str:
        """What to write of a text that begins with its place."""
        place = PLACE.match(text)
        assert place is not None
        number, begins = int(place[1]), int(place[2]) - 1
        before, row = self._rows.get(number, ("", []))
        cells = [] if text == before else cells_of(text[place.end() :].removesuffix("\n"))
        if not cells:
            if cells is None:
                self._rows.pop(number, None)
            return "" if text == before else compact(text)
        row += [None] * (begins + len(cells) - len(row))
        spans = changes(row, begins, cells)
        row[begins : begins + len(cells)] = cells
        self._rows[number] = text, row
        ways = [spans, [(spans[0][0], spans[-1][1])]] if spans else [[]]  # every jump takes up the style anew
        return min(("".join(_written(number, begins, cells[a:b], a) for a, b in way) for way in ways), key=len)

    def stop_application_mode(self) -> None:
        self._leaving, self._frame = True, []
        super().stop_application_mode()

    def start_application_mode(self) -> None:
        self._leaving = False
        self.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        self._put(None)
        if self._writer_thread is not None and not self._is_stuck:
            self._writer_thread.join(STUCK_AFTER)

    def _put(self, text: str | None) -> None:
        if self._writer_thread is None or self._is_stuck:
            return
        try:
            self._writer_thread._queue.put(text, timeout=STUCK_AFTER)
        except queue.Full:
            self._is_stuck = True


class Leaving:
    """Make it while the terminal is as the shell had it; call `begin` when the dashboard is left. `words` restore the
    terminal."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self._before = settings()
        self._begun = False

    def begin(self, code: int, told: str = "") -> None:
        """End the process with this exit code and a last sentence, unless it ends by itself in time. Later calls do
        nothing."""
        if not self._begun:
            self._begun = True
            _aside(PATIENCE, lambda: self._end(code, told))

    def _end(self, code: int, told: str) -> None:
        _aside(LAST, lambda: os._exit(code))  # the terminal may hold up both lines below
        from_background()
        try:
            if self._before is not None:
                restore(self._before)
        finally:  # the terminal may have gone
            watchdog.end(code, self._words + (f"{told}\r\n".encode() if told else b""))


def under_way(workers: Iterable[Worker[Any]]) -> list[Worker[Any]]:
    """The changes of the cluster that have not ended yet."""
    return [worker for worker in workers if worker.group == CHANGES and not worker.is_finished]


async def ended(workers: Iterable[Worker[Any]]) -> None:
    """Wait until no change is under way, however each ends. To cancel this cuts none."""
    while changes := under_way(workers):
        waits = {asyncio.ensure_future(worker.wait()) for worker in changes}
        for wait in waits:
            wait.add_done_callback(retrieve)
        await asyncio.wait(waits)


def cut(workers: Iterable[Worker[Any]]) -> str:
    """The sentence about a change that the end of the dashboard cuts; "" without such a change."""
    if not under_way(workers):
        return ""
    undo = "`kcli history` lists it, and `kcli undo` undoes it if that is possible"
    return f"A change was in progress: its outcome is unknown. {undo}"


def _aside(seconds: float, do: Callable[[], object]) -> None:
    """Do something later, in a thread that holds up nothing."""
    timer = threading.Timer(seconds, do)
    timer.name, timer.daemon = "kcli-leaving", True
    timer.start()
