"""Files that a command writes by the name that its line gives."""

from __future__ import annotations

from contextlib import contextmanager

from kcli.errors import KcliError, UsageError
from kcli.system.files import check_new, new_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


def check(path: str, what: str, *, force: bool | None = None) -> None:
    """Raise UsageError where `written` refuses the path. `what` is the option, `force` whether --force is given, None
    for a command without it."""
    try:
        check_new(path, replace=bool(force))
    except FileExistsError:
        way = "choose a new one" if force is None else "--force overwrites it"
        raise UsageError(f"{_named(what, path)}: the file exists; {way}") from None
    except OSError as problem:
        raise UsageError(f"{_named(what, path)}: {problem.strerror}") from None


@contextmanager
def written(path: str, what: str, *, force: bool | None = None, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open the file of an option (see `new_file`). Raises UsageError as `check`, KcliError where writing fails."""
    check(path, what, force=force)
    try:
        with new_file(path, replace=bool(force), mode=mode) as out:
            yield out
    except OSError as problem:
        raise KcliError(f"{_named(what, path)}: {problem.strerror}") from None


def _named(what: str, path: str) -> str:
    return f"{what} {path}" if what else path
