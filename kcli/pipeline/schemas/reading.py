"""A column of frames as typed columns: each record by the schema that its frame names, resolved to the reader's.

The schemas came with the task. One that is new since the query began is asked for once in a process of Python. A
registry that fails ends the task, as the records may be good; an id that it does not have makes bad records.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import KcliError
from kcli.pipeline.formats.avro_arrow import spans_of
from kcli.pipeline.schemas.look_up import named
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto import core
from kcli.proto.plain.avro import LONGEST_NAME
from kcli.proto.spans import Gathered
from kcli.schemas import SchemaNotFound, SchemaRefused
from kcli.serde.schemas.frames import ID, front

Decoded = tuple[pa.Array, dict[int, str]]

UNFRAMED = "no schema id is in front of it"
GUESSES = 32
"""Names that a registry does not have, from which on others that it may not have are no longer asked for."""
KEPT = 1000
_found: OrderedDict[tuple[str, bytes], Known] = OrderedDict()
"""What this process asked registries for. Schemas of an id never change."""


class Frames:
    """What `core.frame_names` reads, without headers."""

    def __init__(self, data: Any, rows: int) -> None:
        self.data = data
        self.header_starts = self.header_counts = array("i", bytes(4 * rows))


class RegisteredField:
    """The keys or the values of a task's records. A kind of schema says how payloads are read: `reader_of` and
    `read`."""

    def __init__(self, sealed: SealedSchemas) -> None:
        self.sealed = sealed
        self._written = dict(sealed.written)
        self._readers: list[Any] = []
        self._numbers: dict[bytes, int] = {}
        self._reasons: dict[bytes, str] = {}
        self._missing = 0

    def reader_of(self, known: Known, name: bytes) -> Any:
        """What reads payloads of a schema, whose frames have this name. Raises SchemaRefused."""
        raise NotImplementedError

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Any]) -> Decoded:
        """The cells, each by its reader after `skips` bytes; -1 makes a row null."""
        raise NotImplementedError

    def __call__(self, cells: pa.Array, got: Gathered) -> Decoded:
        """Binary cells as the columns of the reader's schema, and by row why a record has none. Raises KcliError where
        the registry cannot be asked."""
        data, starts, lengths = spans_of(cells)
        frames: Any = Frames(data, len(cells))
        names, numbers, skips = core.frame_names(frames, starts, lengths, b"")
        self._by_headers(got, names, numbers, skips)
        used = np.bincount(np.asarray(numbers, np.int32) + 1, minlength=len(names) + 1)[1:]
        # a header may have taken a name's place
        readers = array("i", [*(self._number(name) if n else -1 for n, name in zip(used, names, strict=True)), -1])
        # -1, no name, is the last one's number
        which = array("i", np.asarray(readers, np.int32)[np.asarray(numbers, np.int32)].tobytes())
        made, errors = self.read(cells, skips, which, self._readers)
        for row in np.flatnonzero((np.asarray(which) < 0) & (lengths >= 0)).tolist():
            name = names[numbers[row]] if numbers[row] >= 0 else b""
            errors[row] = self._reasons.get(name, UNFRAMED)
        return made, errors

    def _number(self, name: bytes) -> int:
        """The number of the reader for a name; -1 for none."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._made(name)
        return number

    def _made(self, name: bytes) -> int:
        try:
            reader = self.reader_of(self._known(name), name)
        except KcliError as problem:
            no_guids = name[0] != ID and not problem.retriable  # of the registry
            if not (no_guids or isinstance(problem, SchemaNotFound | SchemaRefused)):
                raise
            self._missing += 1
            self._reasons[name] = str(problem)
            return -1
        self._readers.append(reader)
        return len(self._readers) - 1

    def _known(self, name: bytes) -> Known:
        """The schema of a name. Raises SchemaNotFound, KcliError."""
        name = name[: front(name)]  # behind it are a message's indexes
        known = self._written.get(name)
        if known is not None:
            return known
        settings = self.sealed.settings
        key = settings.name, name
        if key not in _found:
            if self._missing >= max(GUESSES, 4 * len(self._readers)):
                raise SchemaNotFound("more ids of schemas than the registry has")
            _found[key] = named(settings, name)
            if len(_found) > KEPT:
                _found.popitem(last=False)
        return _found[key]

    def _by_headers(self, got: Gathered, names: list[bytes], numbers: array[int], skips: array[int]) -> None:
        """Confluent's header `__value_schema_id` goes before what is in front of the payload, which is bare then."""
        if got.header_ends is None or got.header_names is None or got.header_values is None:
            return
        from kcli.pipeline.formats.arrow import binary

        header = f"__{self.sealed.field}_schema_id".encode()
        found = np.flatnonzero(pc.equal(binary(got.header_names), header).to_numpy(zero_copy_only=False))
        if not len(found):
            return
        ends = np.frombuffer(got.header_ends, np.int32)[1 : got.rows + 1]
        contents = binary(got.header_values)
        known = {name: number for number, name in enumerate(names)}
        for place in found.tolist():  # the last of a record counts
            name = (contents[place].as_py() or b"")[:LONGEST_NAME]
            if (name[:1] == b"\0" and len(name) == 5) or (name[:1] == b"\1" and len(name) >= 17):
                row = int(np.searchsorted(ends, place, side="right"))
                numbers[row], skips[row] = known.setdefault(name, len(known)), 0
        names[:] = known
