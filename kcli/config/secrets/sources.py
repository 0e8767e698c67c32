"""Places of values outside the configuration: environment, file, keyring or command.

In TOML `{ env = "X" }`, `{ file = "…" }`, `{ keyring = "service/user" }`, `{ command = ["pass", "show", "x"] }`;
elsewhere `${env:X}`, `${file:…}`, `${keyring:…}`, `${command:…}` as the whole value. Nothing is read before `resolve`,
and no error contains the value.
"""

from __future__ import annotations

import os

from kcli.errors import UsageError
from kcli.system import files
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KINDS = ("env", "file", "keyring", "command")
PATIENCE = 10.0  # seconds that a command may take


class Source(Frozen):
    """`what` is the variable, the path, "service/user", or the command's words; `patience` is in seconds."""

    kind: str = ""
    what: tuple[str, ...] = ()
    patience: float = PATIENCE

    def __str__(self) -> str:
        """For a command only its first word, because the others may contain a secret."""
        return f"{{{self.kind}: {self.what[0]}{' …' if len(self.what) > 1 else ''}}}"

    def resolve(self, where: str, warn: Callable[[str], None]) -> str:
        """Return the value. `where` begins every error, `warn` is called with problems. Raises UsageError."""
        value = {"env": _env, "file": _file, "keyring": _keyring, "command": _command}[self.kind](self, where, warn)
        if not value:
            raise UsageError(f"{where}: {self} is empty")
        return value


def written(text: str, where: str) -> Source | None:
    """Parse a source such as `${env:X}`; None for any other text. Raises UsageError."""
    if not (text.startswith("${") and text.endswith("}")):
        return None
    kind, colon, what = text[2:-1].partition(":")
    if not colon or kind not in KINDS or not what.strip():
        raise UsageError(f"{where}: ${{…}} is one of {', '.join(f'${{{one}:…}}' for one in KINDS)}")
    return Source(kind=kind, what=words_of(what, where) if kind == "command" else (_plain(what, where),))


def is_source(table: dict[str, Any]) -> bool:
    """Whether a TOML table is a source, and not a table of further keys (as `request.timeout.ms = …` creates)."""
    return table.keys() <= {*KINDS, "timeout"} and not table.keys().isdisjoint(KINDS)


def from_table(table: dict[str, Any], where: str, folder: str) -> Source:
    """Convert a TOML table to a source; a relative file is resolved from `folder`. Raises UsageError."""
    kinds = [kind for kind in KINDS if kind in table]
    if len(kinds) != 1:
        raise UsageError(f"{where}: set one of {', '.join(KINDS)}")
    kind, what, patience = kinds[0], table[kinds[0]], table.get("timeout", PATIENCE)
    if isinstance(patience, bool) or not isinstance(patience, int | float) or patience <= 0:
        raise UsageError(f"{where}: timeout must be a number of seconds")
    if kind == "command" and isinstance(what, list) and what and all(isinstance(word, str) for word in what):
        return Source(kind=kind, what=tuple(_plain(word, where) for word in what), patience=float(patience))
    if not isinstance(what, str) or not what.strip():
        expected = "a list of words" if kind == "command" else "a text"
        raise UsageError(f"{where}: {kind} must be {expected}")
    if kind == "command":
        return Source(kind=kind, what=words_of(what, where), patience=float(patience))
    if kind == "file":
        what = os.path.join(folder, os.path.expanduser(what))
    return Source(kind=kind, what=(_plain(what, where),))


def words_of(text: str, where: str) -> tuple[str, ...]:
    """Split a command like a shell. Raises UsageError, which contains nothing of it."""
    from shlex import split

    try:
        return tuple(split(_plain(text, where)))
    except ValueError:
        raise UsageError(f"{where}: the command has a quotation mark that is not closed") from None


def _plain(text: str, where: str) -> str:
    """Check that a name or word of a command has no NUL, which the system does not allow."""
    if "\0" in text:
        raise UsageError(f"{where}: contains a NUL character")
    return text


def _env(source: Source, where: str, warn: Callable[[str], None]) -> str:
    name = source.what[0]
    if name not in os.environ:
        raise UsageError(f"{where}: environment variable {name} is not set")
    try:
        os.environ[name].encode()
    except UnicodeEncodeError:
        raise UsageError(f"{where}: {name}: is not UTF-8 text") from None
    return os.environ[name]


def _file(source: Source, where: str, warn: Callable[[str], None]) -> str:
    """Read a file. One that another user could have written is refused; one that others can read causes a warning only,
    because Kubernetes mounts secrets like that."""
    path = os.path.expanduser(source.what[0])
    try:
        with files.opened(path) as file:
            if reason := files.distrusted(path, file):
                raise UsageError(f"{where}: {path} {reason}, so it is not used")
            if files.has_modes() and os.fstat(file.fileno()).st_mode & files.OTHERS_READ:
                warn(f"{where}: {path} contains a secret and can be read by other users: chmod 600 it")
            return _text(files.whole(file, files.SECRET), f"{where}: {path}")
    except OSError as problem:
        raise UsageError(f"{where}: {path}: {problem.strerror}") from None


def _keyring(source: Source, where: str, warn: Callable[[str], None]) -> str:
    service, slash, user = source.what[0].rpartition("/")
    if not slash or not service or not user:
        raise UsageError(f"{where}: keyring must be SERVICE/USER")
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise UsageError(
            f"{where}: reading the keyring needs an extra package: pip install 'kcli-kafka[keyring]'"
        ) from None
    try:
        password = keyring.get_password(service, user)
    except keyring.errors.KeyringError as problem:
        raise UsageError(f"{where}: the keyring does not respond: {problem or type(problem).__name__}") from None
    if password is None:
        raise UsageError(f"{where}: the keyring has no password of {user} for {service}: keyring set {service} {user}")
    return str(password)


def _command(source: Source, where: str, warn: Callable[[str], None]) -> str:
    """Return the output of a command, which gets neither our own secrets nor our stdin, which may contain records."""
    import subprocess

    from kcli.security.child import environment

    name = source.what[0]
    try:
        done = subprocess.run(
            source.what,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=source.patience,
            env=environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"{where}: {name} did not end within {source.patience:g} s") from None
    except OSError as problem:
        raise UsageError(f"{where}: {name}: {problem.strerror}") from None
    if done.returncode:
        raise UsageError(
            f"{where}: {name} ended with exit code {done.returncode}; run it to see why: kcli does not show its "
            f"output, which may be secret"
        )
    return _text(done.stdout, f"{where}: {name}")


def _text(data: bytes, where: str) -> str:
    """Remove one final line end, which is not part of a secret."""
    if len(data) > files.SECRET:
        raise UsageError(f"{where}: more than {files.SECRET >> 10} KiB is too large for a secret")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{where}: is not UTF-8 text") from None
    return text.removesuffix("\n").removesuffix("\r")
