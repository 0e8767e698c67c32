"""Logging through the standard `logging`, with logger names below `kcli` (docs/library/logging.md).

kcli never imports `logging`: until the program has imported it, a call costs one dict lookup. Nothing is logged per
record or request, only events of connections, metadata, groups, and batches that are sent again.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import Logger

ROOT = "kcli"
DEBUG, INFO, WARNING = 10, 20, 30  # as in `logging`


class Log:
    """The logger of one subject. Messages have `logging`'s placeholders, which are filled in only at enabled levels."""

    __slots__ = ("_logger", "_name")

    def __init__(self, subject: str) -> None:
        self._name = f"{ROOT}.{subject}"
        self._logger: Logger | None = None

    def debug(self, text: str, *values: object) -> None:
        """Log what happens constantly while everything is well."""
        self._write(DEBUG, text, values)

    def info(self, text: str, *values: object) -> None:
        """Log a change: a leader moved, a group was rebalanced."""
        self._write(INFO, text, values)

    def warning(self, text: str, *values: object) -> None:
        """Log a failure after which kcli retries or continues without the result."""
        self._write(WARNING, text, values)

    def _write(self, level: int, text: str, values: tuple[object, ...]) -> None:
        logger = self._logger
        if logger is None:
            logging = sys.modules.get("logging")
            if logging is None:
                return
            root = logging.getLogger(ROOT)
            if not root.handlers:  # as libraries do, because otherwise warnings go to stderr
                root.addHandler(logging.NullHandler())
            logger = self._logger = logging.getLogger(self._name)
        if logger.isEnabledFor(level):
            # A handler may keep the record; an error in it would keep its frames and everything they refer to.
            kept = [str(value) if isinstance(value, BaseException) else value for value in values]
            logger.log(level, text, *kept, stacklevel=3)
