"""Where a sandbox writes what must outlive its process: a directory, or nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.log.recovery import DataDirectory, State
from kcli.sandbox.log.segment import MemoryStore, Store


class Journal:
    """Without a `folder` nothing is written, and records are kept in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._directory: DataDirectory | None = None

    def open(self) -> State | None:
        """Lock the directory and read what it has; None without one. Raises UsageError for a directory in use."""
        if self._folder is None:
            return None
        from kcli.sandbox.log.recovery import DataDirectory

        self._directory = DataDirectory(self._folder)
        return self._directory.recover()

    def note(self, kind: str, facts: dict[str, Any]) -> None:
        """Write a fact. Raises BrokerError KAFKA_STORAGE_ERROR."""
        if self._directory is None:
            return
        try:
            self._directory.note(kind, facts)
        except OSError as refused:
            raise BrokerError(codes.KAFKA_STORAGE_ERROR, message=f"the disk refused: {refused}") from refused

    def store(self, topic: str, topic_id: bytes, partition: int) -> Store:
        """The place of a partition's log."""
        return MemoryStore() if self._directory is None else self._directory.store(topic, topic_id, partition)

    def close(self) -> None:
        """Flush to the disk, let the directory go."""
        if self._directory is not None:
            self._directory.close()
            self._directory = None
