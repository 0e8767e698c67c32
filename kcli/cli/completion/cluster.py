"""Names from the cluster for a TAB, never later than DEADLINE: a child asks, its parent waits that long at the most.

A child that comes too late (TLS, SASL, far away) continues for CHILD seconds and leaves the names for the next TAB in
the user's cache: fresh for FRESH seconds, and for STALE where the cluster is not quick enough. While a child asks, and
for CHILD seconds after one that failed, no other is sent: a dead cluster costs one wait, not one per TAB.
"""

from __future__ import annotations

import os
import time

from kcli.paths import cache_folder
from kcli.system import child, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.groups import ConnectionOptions

    About = tuple[str, str]

DEADLINE = 0.25  # seconds; 0.3 with the interpreter's start
FRESH, STALE, CHILD = 30.0, 600.0, 5
LARGEST = 4 * 1024 * 1024  # bytes of names


def names_of(kind: str, options: ConnectionOptions, about: About = ("", "")) -> list[str]:
    """The names of a kind: topics, groups, brokers, ids (of brokers), transactions, users, tokens, principals, or
    configs of the resource that `about` is (its kind and name); subjects and contexts of the registry whose address is
    the first of `about`. Empty where they are not known in time."""
    if not child.possible():
        return []
    path = _path(kind, options, about)
    age = _age(path)
    if age < FRESH:
        return _kept(path)
    known = _kept(path) if age < STALE else []
    asking = f"{path}.asking"
    if not _first(asking):
        return known
    names = _wait(Question(kind, options, about), path, asking)
    return known if names is None else names


def _path(kind: str, options: ConnectionOptions, about: About = ("", "")) -> str:
    """A file for each cluster as the line, the environment and the files name it; secrets are no part of its name."""
    from hashlib import sha256

    from kcli.config.profiles import project_file, user_file
    from kcli.secret import secretive

    facts: list[object] = [
        [word.rpartition("@")[2] for word in about],
        options.bootstrap,
        options.profile,
        options.config_file,
        options.broker_map or None,
    ]
    facts += [text for text in options.properties if not secretive(text.partition("=")[0])]
    facts += sorted((name, text) for name, text in os.environ.items() if name[:5] == "KCLI_" and not secretive(name))
    named = [project_file(), user_file(), options.config_file]
    facts += [(path, os.stat(path).st_mtime_ns) for path in named if path and os.path.isfile(path)]
    return os.path.join(folder(), f"{sha256(repr(facts).encode('utf-8', 'replace')).hexdigest()[:24]}-{kind}")


def folder() -> str:
    """Where names are kept: in the cache folder."""
    return os.path.join(cache_folder(), "completion")


def _age(path: str) -> float:
    """Seconds; endless where the file is missing, or belongs to another user."""
    try:
        status = os.lstat(path)
    except OSError:
        return float("inf")
    age = time.time() - status.st_mtime
    return age if not files.distrust(status) and age > -FRESH else float("inf")


def _kept(path: str) -> list[str]:
    try:
        return files.read(path, LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _first(asking: str) -> bool:
    """Whether no child asks or has just failed; then this process takes the turn. True as well where no
    file can be written."""
    try:
        os.makedirs(os.path.dirname(asking), mode=0o700, exist_ok=True)
        if _age(asking) >= CHILD and os.path.lexists(asking):
            os.unlink(asking)
        os.close(os.open(asking, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def _wait(question: Question, path: str, asking: str) -> list[str] | None:
    """What the child tells before the deadline; None when it tells nothing."""
    from select import select

    until = time.monotonic() + DEADLINE
    hear = child.forked(lambda tell: _child(question, path, asking, tell), CHILD)
    data = b""
    while (left := until - time.monotonic()) > 0 and select([hear], [], [], left)[0]:
        piece = os.read(hear, 65536)
        if not piece:
            return data.decode("utf-8", "replace").splitlines()[1:] if data else None
        data += piece
    return None


def _child(question: Question, path: str, asking: str, tell: int) -> None:
    """Ask, keep, tell."""
    names = "\n".join(_asked(question)).encode("utf-8", "ignore")[:LARGEST]
    _keep(path, asking, names)
    with open(tell, "wb") as pipe:
        pipe.write(b"\n" + names)


def _asked(question: Question) -> list[str]:
    from kcli.cli.completion.ask import ask

    return ask(question, float(CHILD))


def _keep(path: str, asking: str, names: bytes) -> None:
    try:
        files.replace(path, names)
        os.unlink(asking)
    except OSError:
        return  # no cache: the next TAB asks again


class Question:
    """What a child is to ask."""

    __slots__ = ("about", "kind", "options")

    def __init__(self, kind: str, options: ConnectionOptions, about: About) -> None:
        self.kind, self.options, self.about = kind, options, about
