"""The data that outlives the process: a locked directory with a journal and the partitions' segment files.

The journal is JSON, one fact per line, appended with write() before the response is sent: topics, committed offsets,
producer ids, log starts, every step of a transaction and the offsets it will commit. Like the segments it survives kill
-9, but not a power failure; it is rewritten, with fsync, at start. An incomplete last line is dropped. Producer
sequences, last stable offsets and aborted ranges need no journal, because they are in the batches and markers.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kcli import codes
from kcli.errors import BrokerError, UsageError
from kcli.proto.buffer import Buffer
from kcli.sandbox.log.batches import SIZE, Header, checksum
from kcli.sandbox.log.segment import SMALLEST, MemoryStore, Segment, Store, blank
from kcli.system import files
from kcli.system.files import BINARY, NOFOLLOW, lock


class State:
    """All facts of a journal, where later ones replace earlier ones."""

    def __init__(self) -> None:
        self.cluster_id = ""
        self.producer_id = 0
        self.topics: dict[str, dict[str, Any]] = {}  # by id in hex
        self.groups: dict[str, str] = {}  # protocol type by name
        self.group_configs: dict[str, dict[str, str]] = {}
        self.shares: dict[tuple[str, str, int], dict[str, Any]] = {}  # by share group, topic id in hex, partition
        self.acls: dict[tuple[str, ...], list[str]] = {}
        self.scram: dict[tuple[str, str], dict[str, Any]] = {}  # by user and mechanism
        self.tokens: dict[str, dict[str, Any]] = {}  # by id
        self.quotas: dict[str, dict[str, Any]] = {}  # by entity, as text
        self.broker_configs: dict[str, dict[str, str]] = {}
        self.client_metrics: dict[str, dict[str, str]] = {}
        self.features: dict[str, int] = {}  # levels that were set
        self.offsets: dict[tuple[str, str, int], dict[str, Any]] = {}
        self.transactions: dict[str, dict[str, Any]] = {}
        self.pending: dict[tuple[int, str, str, int], dict[str, Any]] = {}
        self.registry: dict[tuple[str, str], Any] = {}  # of schemas: by kind and key

    def note(self, kind: str, facts: dict[str, Any]) -> None:
        if kind == "cluster":
            self.cluster_id = facts["id"]
        elif kind == "producer":
            self.producer_id = facts["next"]
        elif kind == "topic":
            self.topics[facts["id"]] = facts
        elif kind == "deleted":
            self._forget_topic(facts["id"])
        elif kind == "start" and facts["id"] in self.topics:
            self.topics[facts["id"]]["partitions"][facts["partition"]][2] = facts["start"]
        elif kind == "group":
            self.groups[facts["group"]] = facts["type"]
        elif kind == "share":
            self._note_share((facts["group"], facts["id"], facts["partition"]), facts)
        elif kind == "offset":
            self._note_offset((facts["group"], facts["topic"], facts["partition"]), facts)
        elif kind == "group deleted":
            self._forget_group(facts["group"])
        elif kind == "transaction":
            self.transactions[facts["id"]] = facts
        elif kind == "pending":
            self.pending[(facts["producer"], facts["group"], facts["topic"], facts["partition"])] = facts
        elif kind == "settled":
            self._settle((facts["producer"], facts["group"]))
        else:
            self._note_administration(kind, facts)

    def _note_administration(self, kind: str, facts: dict[str, Any]) -> None:
        """Configs, features, quotas, ACLs, credentials and the schema registry."""
        if kind == "group configs":
            self.group_configs[facts["group"]] = facts["configs"]
        elif kind == "broker configs":
            self.broker_configs[facts["broker"]] = facts["configs"]
        elif kind == "client metrics":
            self.client_metrics[facts["name"]] = facts["configs"]
        elif kind == "feature":
            self.features[facts["feature"]] = facts["level"]
        elif kind == "quota":
            self.quotas[str(facts["entity"])] = facts
        elif kind == "acl":
            self._note_acl(tuple(facts["acl"]), facts)
        elif kind == "scram":
            self.scram[(facts["user"], facts["mechanism"])] = facts
        elif kind == "token":
            self.tokens[facts["id"]] = facts
        elif kind.startswith("registry "):
            self._note_registry((kind, facts["key"]), facts["value"])

    def _forget_topic(self, topic_id: str) -> None:
        topic = self.topics.pop(topic_id, None)
        if topic is not None:
            self.offsets = {key: kept for key, kept in self.offsets.items() if key[1] != topic["name"]}
            self.pending = {key: kept for key, kept in self.pending.items() if key[2] != topic["name"]}

    def _forget_group(self, group: str) -> None:
        self.groups.pop(group, None)
        self.shares = {key: kept for key, kept in self.shares.items() if key[0] != group}
        self.offsets = {key: kept for key, kept in self.offsets.items() if key[0] != group}
        self.pending = {key: kept for key, kept in self.pending.items() if key[1] != group}

    def _settle(self, ended: tuple[int, str]) -> None:
        self.pending = {key: kept for key, kept in self.pending.items() if key[:2] != ended}

    def _note_acl(self, key: tuple[str, ...], facts: dict[str, Any]) -> None:
        self.acls.pop(key, None)
        if facts["there"]:
            self.acls[key] = facts["acl"]

    def _note_registry(self, key: tuple[str, str], value: Any) -> None:
        self.registry.pop(key, None)
        if value is not None:
            self.registry[key] = value

    def _note_share(self, key: tuple[str, str, int], facts: dict[str, Any]) -> None:
        if facts["start"] is None:
            self.shares.pop(key, None)
        else:
            self.shares[key] = facts

    def _note_offset(self, key: tuple[str, str, int], facts: dict[str, Any]) -> None:
        if facts["offset"] is None:
            self.offsets.pop(key, None)
            return
        self.offsets[key] = facts
        by = facts.get("producer", -1)
        for pending, kept in self.pending.items():
            if pending[1:] == key and by in (-1, pending[0]):  # committed over from outside, or settled: it is done
                self.pending[pending] = {**kept, "offset": None}

    def lines(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the shortest journal for the same state."""
        notes: list[tuple[str, dict[str, Any]]] = [("cluster", {"id": self.cluster_id})]
        notes.append(("producer", {"next": self.producer_id}))
        notes += [("topic", facts) for facts in self.topics.values()]
        notes += [("group", {"group": name, "type": kind}) for name, kind in self.groups.items()]
        notes += [("group configs", {"group": name, "configs": kept}) for name, kept in self.group_configs.items()]
        notes += [("broker configs", {"broker": name, "configs": kept}) for name, kept in self.broker_configs.items()]
        notes += [("client metrics", {"name": name, "configs": kept}) for name, kept in self.client_metrics.items()]
        notes += [("feature", {"feature": name, "level": level}) for name, level in self.features.items()]
        notes += [("quota", facts) for facts in self.quotas.values() if facts["values"]]
        notes += [("acl", {"acl": fact, "there": True}) for fact in self.acls.values()]
        notes += [("scram", facts) for facts in self.scram.values()]
        notes += [("token", facts) for facts in self.tokens.values()]
        notes += [("share", facts) for facts in self.shares.values()]
        notes += [("offset", facts) for facts in self.offsets.values()]
        notes += [("transaction", facts) for facts in self.transactions.values()]
        notes += [("pending", facts) for facts in self.pending.values()]
        notes += [(kind, {"key": key, "value": value}) for (kind, key), value in self.registry.items()]
        return notes


class DataDirectory:
    """The directory, locked until `close`. Raises UsageError if another sandbox holds it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder.resolve()
        self._lock = self._locked()
        self._journal = -1

    def _locked(self) -> int:
        held = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | NOFOLLOW | BINARY, 0o600)
        try:
            lock(held)
        except OSError as taken:
            os.close(held)
            raise UsageError(f"{self.folder} is in use by another sandbox") from taken
        os.chmod(self.folder, 0o700)
        return held

    def recover(self) -> State:
        """Return the state of the last acknowledged change; the journal is then rewritten to contain only that."""
        state, path = State(), self.folder / "journal"
        if path.exists():
            with files.opened(path) as file:
                for number, line in enumerate(files.lines(file), 1):
                    if not line.endswith(b"\n"):
                        break  # it was never acknowledged
                    try:
                        kind, facts = json.loads(line)
                    except ValueError as broken:
                        raise UsageError(f"{path}, line {number} is not a journal line") from broken
                    state.note(kind, facts)
        fresh = self.folder / "journal.new"
        fresh.unlink(missing_ok=True)
        out = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, 0o600)
        try:
            self._write(out, b"".join(_line(kind, facts) for kind, facts in state.lines()))
            os.fsync(out)
        finally:
            os.close(out)  # Windows cannot replace an open file
        os.replace(fresh, path)
        self._journal = os.open(path, os.O_WRONLY | os.O_APPEND | NOFOLLOW | BINARY)
        return state

    def note(self, kind: str, facts: dict[str, Any]) -> None:
        """Write a fact before it is acknowledged. Raises OSError."""
        self._write(self._journal, _line(kind, facts))

    @staticmethod
    def _write(out: int, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(out, left) :]

    def store(self, topic: str, topic_id: bytes, partition: int) -> Store:
        """Return where a partition's segments are. The topic's name was checked before (a valid name is not a path)."""
        return FileStore(self.folder / "topics" / f"{topic}-{topic_id.hex()}" / str(partition))

    def close(self) -> None:
        """Flush to disk and release the lock."""
        if self._journal >= 0:
            os.fsync(self._journal)
            os.close(self._journal)
            self._journal = -1
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _line(kind: str, facts: dict[str, Any]) -> bytes:
    return json.dumps([kind, facts], separators=(",", ":")).encode() + b"\n"


# Segments on disk: a directory for each partition, with a file for each segment.
#
# A batch is in the page cache before it is acknowledged: it survives the death of the process (kill -9), not that of
# the machine: only `close` calls fsync.
class DiskSegment(Segment):
    """A segment that has an open `file` at `path`."""

    path: Path
    file: int

    def recover(self) -> bool:
        """Index the valid batches and cut the torn tail off. True when the segment is empty of batches."""
        at, expected = 0, self.base_offset
        while at + SIZE <= len(self.view):
            header = Header(self.view, at)
            end = at + header.size
            whole = header.magic == 2 and header.length >= SIZE - 12 and end <= len(self.view)
            if not whole or header.base_offset < expected or checksum(self.view[at + 21 : end]) != header.crc:
                break
            self._index(header, end)
            at, expected = end, self.next_offset
        self._wipe(at)
        return not self.ends

    def _wipe(self, at: int) -> None:
        """Have nothing in the file from `at` on."""
        raise NotImplementedError

    def close(self) -> None:
        if self.file >= 0:
            os.fsync(self.file)
            os.close(self.file)
            self.file = -1

    def delete(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)


class FileSegment(DiskSegment):
    """A segment in a sparse file, written at positions and read through a map of the same page cache."""

    def __init__(self, base_offset: int, path: Path, size: int) -> None:
        from mmap import ACCESS_READ, mmap

        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | NOFOLLOW | BINARY, 0o600)
        size = max(size, os.fstat(self.file).st_size, SMALLEST)
        os.ftruncate(self.file, size)
        super().__init__(base_offset, memoryview(mmap(self.file, size, access=ACCESS_READ)))

    def _write(self, at: int, head: bytes, body: Buffer) -> None:
        wrote = os.pwritev(self.file, [head, body], at)
        total = len(head) + len(body)
        while wrote < total:
            rest = memoryview(head + bytes(body))[wrote:]
            wrote += os.pwrite(self.file, rest, at + wrote)

    def _wipe(self, at: int) -> None:
        size = len(self.view)
        if any(self.view[at : at + SIZE]):
            os.ftruncate(self.file, at)
            os.ftruncate(self.file, size)

    def _forget_from(self, row: int) -> None:
        from mmap import ACCESS_READ, mmap

        if row >= len(self.bases):
            return
        kept, size = self.start_of(row), len(self.view)
        self.next_offset = self.bases[row]
        for column in (self.bases, self.ends, self.times, self.epochs):
            del column[row:]
        data = bytes(self.view[:kept])
        os.close(self.file)
        self.path.unlink()
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, 0o600)
        os.ftruncate(self.file, size)
        os.pwrite(self.file, data, 0)
        self.view = memoryview(mmap(self.file, size, access=ACCESS_READ))


class CopiedSegment(DiskSegment):
    """A segment in a file, with a copy in memory: Windows has no write at a position, and neither cuts nor removes a
    file that is mapped."""

    def __init__(self, base_offset: int, path: Path, size: int) -> None:
        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | NOFOLLOW | BINARY, 0o600)
        written = os.fstat(self.file).st_size
        super().__init__(base_offset, blank(max(size, written, SMALLEST)))
        with open(self.file, "rb", closefd=False) as file:
            file.readinto(self.view[:written])

    def _write(self, at: int, head: bytes, body: Buffer) -> None:
        os.lseek(self.file, at, os.SEEK_SET)
        rest = memoryview(head + bytes(body))
        while rest:
            rest = rest[os.write(self.file, rest) :]
        super()._write(at, head, body)

    def _wipe(self, at: int) -> None:
        os.ftruncate(self.file, at)
        self.view[at:] = bytes(len(self.view) - at)

    def _forget_from(self, row: int) -> None:
        if row < len(self.bases):
            super()._forget_from(row)
            os.ftruncate(self.file, self.used)


SEGMENT: type[FileSegment | CopiedSegment] = FileSegment if hasattr(os, "pwritev") else CopiedSegment


class FileStore:
    """A partition's directory: one file per segment, named by its base offset as Kafka does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, base_offset: int, size: int) -> Segment:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return SEGMENT(base_offset, self.folder / f"{base_offset:020d}.log", size)

    def load(self) -> list[Segment]:
        """The segments found, in order, as far as each continues the one before."""
        segments: list[Segment] = []
        if not self.folder.is_dir() or self.folder.is_symlink():
            return segments
        for path in sorted(self.folder.glob("*.log")):
            if not (path.stem.isdigit() and len(path.stem) == 20) or path.is_symlink():
                continue
            segment = SEGMENT(int(path.stem), path, 0)
            empty = segment.recover()
            if empty or (segments and segment.base_offset < segments[-1].next_offset):
                segment.delete()
            else:
                segments.append(segment)
        return segments

    def delete(self) -> None:
        """Remove the directory, which `Segment.delete` has emptied."""
        if self.folder.is_dir() and not self.folder.is_symlink():
            self.folder.rmdir()


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
