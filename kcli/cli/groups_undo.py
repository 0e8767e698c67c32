"""What was committed before a change, kept in a file that `groups reset --from-file` takes back.

It is written, and on the disk, before anything is sent; without it nothing is sent.
"""

from __future__ import annotations

import os
import time

from kcli.admin.cluster import describe_cluster
from kcli.admin.saved import SCHEMA, Saved, read, row
from kcli.cli.admin import say, words_of
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.admin.offsets import Committed
    from kcli.cli.option import Values
    from kcli.model import Cluster, TopicPartition

    Before = Sequence[tuple[str, TopicPartition, Committed | None]]


class NoUndo(KcliError):
    """The undo file could not be written, so nothing was changed."""


def check(values: Values) -> None:
    """Raises UsageError for options that contradict each other, and for a file that is there already."""
    if values["undo_file"] is None:
        return
    if values["no_undo"]:
        raise UsageError("--undo-file and --no-undo exclude each other")
    if not values["dry_run"] and os.path.lexists(values["undo_file"]):
        raise UsageError(f"--undo-file {values['undo_file']}: there is a file already; name a new one")


async def keep(values: Values, cluster: Cluster, before: Before) -> None:
    """Write what is committed before a change, and say how to take the change back. Raises NoUndo."""
    if values["no_undo"] or not before:
        return
    from shlex import quote

    path = _write(values, before, (await describe_cluster(cluster)).cluster_id)
    say(values, f"to take this back: kcli groups reset --from-file {quote(path)} --execute")


def _write(values: Values, before: Before, cluster_id: str | None) -> str:
    """The path of the new file."""
    from json import dumps

    path: str = values["undo_file"] or _path("-".join(sorted({group for group, _, _ in before})))
    document = {
        "schema": SCHEMA,
        "ok": True,
        "taken": [{"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cluster_id": cluster_id}],
        "offsets": [row(*one) for one in before],
        "errors": [],
    }
    try:
        if not values["undo_file"]:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "x", encoding="utf-8") as out:
            out.write(dumps(document, ensure_ascii=False, indent=1) + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise NoUndo(
            f"nothing was changed: the undo file {path} cannot be written ({error.strerror}); "
            "--undo-file FILE names another place, --no-undo goes without"
        ) from None
    return path


def _path(groups: str) -> str:
    """A new name in XDG_STATE_HOME/kcli/undo."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in groups)[:100]
    stem = os.path.join(home, "kcli", "undo", f"{plain}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    number, path = 1, f"{stem}.json"
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}.json"
    return path


def saved_offsets(values: Values) -> tuple[Saved, list[str]]:
    """What --from-file says, and the groups that are meant: those named, or those of the file. A file that names no
    group is about each group named. Raises UsageError."""
    name = values["from_file"]
    saved = read(_text(name), "stdin" if name == "-" else name)
    groups = list(dict.fromkeys(values["words"]))
    if "" in saved.groups:
        groups = words_of(values, "GROUP: the file has offsets of one group and does not say which")
        plain = saved.groups.pop("")
        saved.groups = {**dict.fromkeys(groups, plain), **saved.groups}
    missing = [group for group in groups if group not in saved.groups]
    if missing:
        there = ", ".join(list(saved.groups)[:5])
        raise UsageError(
            f"{name} has the offsets of {there}, not of {missing[0]}; `kcli groups clone` brings those of one group "
            "to another"
        )
    return saved, groups or list(saved.groups)


def _text(name: str) -> str:
    import sys

    try:
        if name == "-":
            return sys.stdin.read()
        with open(name, encoding="utf-8", newline="") as source:
            return source.read()
    except OSError as error:
        raise UsageError(f"--from-file {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--from-file {name}: this is no text in UTF-8") from None
