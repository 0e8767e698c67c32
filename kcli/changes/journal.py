"""The journal of changes: one JSON object per line, in the user's state folder, readable only by this user.

A change has two lines: one, with the plan and the undo data, is on disk before anything is sent; the other has the
outcome. A change without the second line was interrupted, so its outcome is unknown. The last 1,000 changes are kept.
Rows and undo data above 64 KiB are in a separate file, so that listing changes stays fast. Writers take turns with a
lock on a separate file, because the journal is replaced when old changes are dropped.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from contextlib import contextmanager
from shlex import join

from kcli.admin.cluster.cluster import cluster_id
from kcli.errors import KcliError, UsageError
from kcli.paths import private, state_folder
from kcli.redact import HIDDEN, redacted
from kcli.secret import secretive, without_login, without_logins
from kcli.system import files
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from kcli.changes.change import Undo

    Outcome = TypeVar("Outcome")

KEPT = 1000
INLINE = 64 << 10  # bytes of rows and undo data in a line
PATIENCE = 5.0  # seconds to wait for another process that is writing
UNKNOWN = "unknown"
SAME = ("unchanged", "exists", "absent", "known", "not needed", "skipped")
BAD = ("failed", "refused", UNKNOWN, "conflict", "not done")
"""Results of rows that were not changed, because it failed or was not needed."""


LOGIN = re.compile(":[^@]+@")
"""The password of `user:password@host:9092`."""


class NotWritten(KcliError):
    """The journal cannot be written, so a change that has to be undoable must not be made."""


class Entry(Value):
    """A change of the journal. `time` is in milliseconds since the epoch, `cluster` the cluster id or a registry's
    address, `result` is done, partly, failed, unchanged or unknown; `changed` counts the changed rows."""

    number: int = 0
    time: int = 0
    user: str = ""
    cluster: str = ""
    command: str = ""
    result: str = UNKNOWN
    changed: int = 0
    undoable: bool = False
    topic_ids: dict[str, str] = field(factory=dict)
    """Ids of the topics that it created, by name."""
    _details: Mapping[str, Any] = field(factory=dict)

    def details(self) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """Return the rows of the plan, and the undo document. Raises UsageError if their file is missing."""
        details = self._details
        if details.get("file"):
            path = _details_of(self.number)
            try:
                details = json.loads(files.read(path, files.DOCUMENT))
            except (OSError, ValueError) as error:
                raise UsageError(f"the details of change {self.number} cannot be read: {path}: {error}") from None
        rows, undo = details.get("rows"), details.get("undo")
        return [row for row in rows or () if isinstance(row, dict)], undo if isinstance(undo, dict) else None


def begin(words: Sequence[str], cluster: str, rows: Sequence[Mapping[str, object]], undo: Undo | None) -> int:
    """Record a change before it is sent and return its number. `words` is its command line after `kcli`. Raises
    NotWritten."""
    details: dict[str, object] = {"rows": list(rows), "undo": dict(undo.document) if undo and undo.document else None}
    with _locked() as path:
        try:
            known = entries()
        except UsageError as error:
            raise NotWritten(str(error)) from None
        number = known[-1].number + 1 if known else 1
        data = json.dumps(details, ensure_ascii=False, default=str)
        if len(data) > INLINE:
            _write(_details_of(number), data, "w")
            details = {"file": True}
        entry = {
            "number": number,
            "time": time.time_ns() // 1_000_000,
            "user": _user(),
            "cluster": cluster,
            "command": shown(words, rows),
            "undoable": bool(undo and undo.document),
            "details": details,
        }
        _append(path, entry)
        _drop_old(path, known)
    return number


def end(number: int, result: str, changed: int, rows: Sequence[Mapping[str, object]] = ()) -> None:
    """Record the outcome of a change, with the ids of the topics that its `rows` created. Raises NotWritten."""
    ids = {str(row["topic"]): row["topic_id"] for row in rows if row.get("topic_id") and row["result"] == "created"}
    with _locked() as path:
        _append(path, {"number": number, "result": result, "changed": changed} | ({"topic_ids": ids} if ids else {}))


async def recorded(
    words: Sequence[str],
    where: str,
    rows: Callable[[], Sequence[Mapping[str, object]]],
    undo: Undo | None,
    work: Callable[[], Awaitable[Outcome]],
    *,
    must: bool,
    say: Callable[[str], object],
    undoes: Callable[[int], object],
) -> Outcome:
    """Make a change between its two lines in the journal; `where` is the cluster id, or a registry's address.

    `say` gets a sentence if a line cannot be written. `undoes` gets the number of the change if undo data was saved and
    something may have changed, even if the work raises. Raises NotWritten, before anything is sent, if the change
    `must` be in the journal and cannot.
    """
    before = rows()
    number, finished = 0, False
    try:
        number = begin(words, where, before, undo)
    except NotWritten as problem:
        if must:
            raise NotWritten(f"nothing was changed: {problem}") from None
        say(f"this change is not in the journal: {problem}")
    try:
        made = await work()
        finished = True
    finally:
        if number:
            after = rows()
            results = [[str(row["result"]) for row in some] for some in (before, after)]
            result, changed = outcome(*results, finished=finished)
            try:
                end(number, result, changed, after)
            except NotWritten as problem:
                say(f"the outcome of this change is not in the journal: {problem}")
            if undo is not None and (changed or result == UNKNOWN):
                undoes(number)
    return made


async def where_of(target: Any, undo: Undo | None) -> str:
    """Return the cluster id, or the address of the registry that is changed."""
    if undo is not None and undo.where:
        return undo.where
    if isinstance(target, tuple):  # a cluster and its registry
        target = target[0]
    name = getattr(target, "name", None)
    if isinstance(name, str):
        return name
    return await cluster_id(target) or ""


def entries() -> list[Entry]:
    """Return all changes of the journal, the oldest first. A line that was cut short, for example by a full disk, is
    skipped. Raises UsageError if the journal cannot be read."""
    path = _path()
    found: dict[int, Entry] = {}
    try:
        with files.opened(path) as source:
            for line in files.lines(source):
                _take(found, line)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    for one in found.values():
        one.undoable = one.undoable and (one.changed > 0 or one.result == UNKNOWN)
    return list(found.values())


def entry(number: int) -> Entry:
    """Return an entry. Raises UsageError for an unknown number."""
    for one in entries():
        if one.number == number:
            return one
    raise UsageError(f"the journal has no change {number}").hinted("history")


def _take(found: dict[int, Entry], line: bytes) -> None:
    try:
        read = json.loads(line)
        number = int(read["number"])
        if "result" in read and number in found:
            found[number].result, found[number].changed = str(read["result"]), int(read["changed"])
            found[number].topic_ids = {str(name): str(id) for name, id in dict(read.get("topic_ids", {})).items()}
        elif "details" in read:
            one = Entry(number=number, time=int(read["time"]), undoable=bool(read["undoable"]))
            one.user, one.cluster, one.command = (str(read[name]) for name in ("user", "cluster", "command"))
            one._details = dict(read["details"])
            found[number] = one
    except (ValueError, KeyError, TypeError):
        return  # a line that was cut short, with unknown content


def outcome(before: Sequence[str], after: Sequence[str], *, finished: bool) -> tuple[str, int]:
    """Return the result of a change, and how many rows were changed, from the results of its rows in the plan and at
    its end. If it was not finished, rows that were only planned may have been changed."""
    new = Counter(after)
    new.subtract(before)
    bad = sum(max(new[result], 0) for result in BAD)
    planned = sum(max(count, 0) for result, count in new.items() if result.startswith("would "))
    changed = sum(max(count, 0) for result, count in new.items() if result not in (*BAD, *SAME)) - planned
    if not finished or new[UNKNOWN] > 0:
        return UNKNOWN, changed
    if changed:
        return "partly" if bad else "done", changed
    return "failed" if bad else "unchanged", 0


def shown(words: Sequence[str], rows: Sequence[Mapping[str, object]] = ()) -> str:
    """Return a command line for the journal, with secrets as `***`, including the values of configs that rows have as
    secrets."""
    secret = {str(row.get("config")) for row in rows if HIDDEN in (row.get("old"), row.get("new"))}
    line = ["kcli"]
    hide = False
    for word in words:
        line.append(HIDDEN if hide else _shown(word, secret))
        hide = not hide and "=" not in word and word.startswith("--") and _secret(word[2:])
    return join(line)


def _shown(word: str, secret: set[str]) -> str:
    """Return a word without the secret values in `KEY=VALUE,…`, `-XKEY=VALUE` and `--option=KEY=VALUE`."""
    before, rest = ("-X", word[2:]) if word.startswith("-X") else ("", word)
    option, equals, value = word.partition("=")
    if word.startswith("--") and equals:
        before, rest = f"{option}=", value
        if "=" not in value and _secret(option[2:]):
            return f"{before}{HIDDEN}"
    names = []
    for pair in rest.split(","):
        name, equals, _ = pair.partition("=")
        names += [f"{name}={HIDDEN}"] if equals else []
        if equals and (secretive(name) or name in secret):
            return before + ",".join(names)  # what follows may be part of the secret, which can contain commas
    word = redacted(word)
    # @-1h and orders-value@3 are not passwords
    login = "://" not in word and not word.startswith("@") and LOGIN.search(word)
    return without_login(word) if "://" in word else without_logins(word) if login else word


def _secret(option: str) -> bool:
    return secretive(option) and not option.endswith(("-file", "-command"))


# -- the file ---------------------------------------------------------------------------------------------------------


def _path() -> str:
    return os.path.join(state_folder("journal"), "journal.ndjson")


def _details_of(number: int) -> str:
    return os.path.join(state_folder("journal"), f"change-{number}.json")


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user may have a number and no name
        return ""


@contextmanager
def _locked() -> Iterator[str]:
    """Yield the path of the journal while this process holds the lock. Raises NotWritten."""
    folder, fd = state_folder("journal"), -1
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        fd = private(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                files.lock(fd)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)  # the other process writes two lines; a blocking lock would have no deadline
        yield _path()
    except OSError as error:
        raise NotWritten(f"the journal {_path()} cannot be written ({error.strerror})") from None
    finally:
        if fd >= 0:
            os.close(fd)


def _write(path: str, text: str, mode: str) -> None:
    """Write, and wait until it is on disk."""
    with open(path, mode, encoding="utf-8", opener=private) as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


def _append(path: str, line: Mapping[str, object]) -> None:
    """Append a line, also after a line that was cut short."""
    torn = False
    if os.path.exists(path) and os.path.getsize(path):
        with files.opened(path) as source:
            source.seek(-1, os.SEEK_END)
            torn = source.read(1) != b"\n"
    _write(path, "\n" * torn + json.dumps(line, ensure_ascii=False, default=str) + "\n", "a")


def _drop_old(path: str, known: list[Entry]) -> None:
    """From time to time, drop changes older than the last ones, with their files."""
    if len(known) < KEPT + KEPT // 10:
        return
    old = [one.number for one in known[:-KEPT]]
    with files.opened(path) as source:
        lines = [line for line in files.lines(source) if _number(line) > old[-1]]
    _write(f"{path}.new", b"".join(lines).decode("utf-8", "replace"), "w")
    os.replace(f"{path}.new", path)
    for number in old:
        if os.path.exists(details := _details_of(number)):
            os.unlink(details)


def _number(line: bytes) -> int:
    try:
        return int(json.loads(line)["number"])
    except (ValueError, KeyError, TypeError):
        return 0
