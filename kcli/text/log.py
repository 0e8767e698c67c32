"""Logging for programs that ask for it: the standard `logging`, under names below `kcli` (docs/library/logging.md).

kcli never imports `logging`: while the program has not imported it there is no handler, and a call reads one dict.
Nothing is logged for a record or a request, only what happens to connections, metadata, groups and batches that are
sent again.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import Logger

ROOT = "kcli"
DEBUG, INFO, WARNING = 10, 20, 30  # as in `logging`


class Log:
    """The logger of one subject. Texts have `logging`'s placeholders, filled in only at an enabled level."""

    __slots__ = ("_logger", "_name")

    def __init__(self, subject: str) -> None:
        self._name = f"{ROOT}.{subject}"
        self._logger: Logger | None = None

    def debug(self, text: str, *values: object) -> None:
        """What happens all the time while everything is well."""
        self._write(DEBUG, text, values)

    def info(self, text: str, *values: object) -> None:
        """A change: a leader moved, a group was rebalanced."""
        self._write(INFO, text, values)

    def warning(self, text: str, *values: object) -> None:
        """Something failed, and kcli tries again or continues without it."""
        self._write(WARNING, text, values)

    def _write(self, level: int, text: str, values: tuple[object, ...]) -> None:
        logger = self._logger
        if logger is None:
            logging = sys.modules.get("logging")
            if logging is None:
                return
            root = logging.getLogger(ROOT)
            if not root.handlers:  # as libraries do: without it, warnings go to stderr unasked
                root.addHandler(logging.NullHandler())
            logger = self._logger = logging.getLogger(self._name)
        if logger.isEnabledFor(level):
            # a handler may keep the record: an error would keep its frames, and whatever those hold
            kept = [str(value) if isinstance(value, BaseException) else value for value in values]
            logger.log(level, text, *kept, stacklevel=3)
