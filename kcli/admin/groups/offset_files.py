"""Group offsets as text: kcli's JSON, which keeps leader epochs, metadata and missing commits, and the CSV of Kafka's
kafka-consumer-groups --export, with TOPIC,PARTITION,OFFSET, preceded by the group if there are several.

`groups reset --from-file` reads both; Kafka's tool reads the CSV. Undo files use the JSON.
"""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypedDict

    class Row(TypedDict):
        group: str
        topic: str
        partition: int
        offset: int | None
        leader_epoch: int | None
        metadata: str | None


SCHEMA = "kcli.groups.export/1"
_LARGEST, _INT = 2**63 - 1, 2**31 - 1


class Saved(Value):
    """The content of a file: a commit by group ("" if it names none) and partition, or None for no commit. `plain`:
    without epochs and metadata."""

    groups: dict[str, dict[TopicPartition, OffsetAndMetadata | None]] = field(factory=dict)
    plain: bool = True
    cluster_id: str | None = None


def row(group: str, at: TopicPartition, commit: OffsetAndMetadata | None) -> Row:
    """Return one partition in the JSON form."""
    return {
        "group": group,
        "topic": at.topic,
        "partition": at.partition,
        "offset": None if commit is None else commit.offset,
        "leader_epoch": None if commit is None or commit.leader_epoch < 0 else commit.leader_epoch,
        "metadata": None if commit is None else commit.metadata or None,
    }


def csv_text(offsets: Iterable[tuple[str, TopicPartition, int | None]], *, with_group: bool) -> str:
    """Return the lines of Kafka's --export: offsets by group and partition, without partitions that have no commit."""
    import csv
    from io import StringIO

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for group, at, offset in offsets:
        if offset is not None:
            values = [at.topic, at.partition, offset]
            writer.writerow([group, *values] if with_group else values)
    return out.getvalue()


def read(text: str, name: str) -> Saved:
    """Read a file called `name`. Raises UsageError with the line of the error."""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _read_json(text.lstrip("\ufeff"), name)
    return _read_csv(text.lstrip("\ufeff"), name)


def _read_json(text: str, name: str) -> Saved:
    from json import loads

    try:
        whole = loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: not a JSON file with offsets: {error}") from None
    if whole.get("schema") != SCHEMA or not isinstance(whole.get("offsets"), list):
        raise UsageError(f"{name}: expected a document of the schema {SCHEMA}").hinted("export-groups")
    saved = Saved(plain=False)
    taken = whole.get("taken")
    for row in taken if isinstance(taken, list) else []:
        saved.cluster_id = row.get("cluster_id") if isinstance(row, dict) else None
    for number, row in enumerate(whole["offsets"], 1):
        where = f"{name}: offsets[{number - 1}]"
        try:
            at = TopicPartition(row["topic"], row["partition"])
            offset, epoch, metadata = row["offset"], row.get("leader_epoch"), row.get("metadata")
            group = row.get("group") or ""
        except (TypeError, KeyError) as error:
            raise UsageError(f"{where}: expected topic, partition and offset; {error} is wrong") from None
        if not (isinstance(at.topic, str) and isinstance(group, str) and _whole(at.partition, _INT)):
            raise UsageError(f"{where}: expected a topic and the number of a partition")
        if not (epoch is None or _whole(epoch, _INT)) or not (metadata is None or isinstance(metadata, str)):
            raise UsageError(f"{where}: expected leader_epoch to be a number and metadata to be text, or null")
        if offset is not None and not _whole(offset):
            raise UsageError(f"{where}: {offset!r} is not an offset")
        commit = None
        if offset is not None:
            commit = OffsetAndMetadata(offset, -1 if epoch is None else epoch, metadata or "")
        _put(saved, group, at, commit, where)
    return _checked(saved, name)


def _read_csv(text: str, name: str) -> Saved:
    import csv
    from io import StringIO

    saved = Saved()
    width = 0
    for number, words in enumerate(_lines(csv.reader(StringIO(text)), name), 1):
        cells = [word.strip() for word in words]
        if not any(cells) or (number == 1 and cells[-3:] == ["topic", "partition", "offset"]):
            continue
        where = f"{name}: line {number}"
        if len(cells) not in (3, 4) or (width and len(cells) != width):
            raise UsageError(f"{where}: expected {_expected(width)}")
        width = len(cells)
        group = cells[0] if width == 4 else ""
        topic, partition, offset = cells[-3:]
        if not topic or not _digits(partition, _INT) or not _digits(offset):
            raise UsageError(f"{where}: expected {_expected(width)}; partition and offset are whole numbers")
        _put(saved, group, TopicPartition(topic, int(partition)), OffsetAndMetadata(offset=int(offset)), where)
    return _checked(saved, name)


def _lines(lines: Iterator[list[str]], name: str) -> Iterator[list[str]]:
    """Raises UsageError if the CSV reader fails: a cell is not closed."""
    import csv

    try:
        yield from lines
    except csv.Error as error:
        raise UsageError(f"{name}: not a CSV file with offsets: {error}") from None


def _expected(width: int) -> str:
    return {3: "TOPIC,PARTITION,OFFSET", 4: "GROUP,TOPIC,PARTITION,OFFSET"}.get(
        width, f"TOPIC,PARTITION,OFFSET or GROUP,TOPIC,PARTITION,OFFSET, or JSON of the schema {SCHEMA}"
    )


def _put(saved: Saved, group: str, at: TopicPartition, commit: OffsetAndMetadata | None, where: str) -> None:
    offsets = saved.groups.setdefault(group, {})
    if at in offsets:
        raise UsageError(f"{where}: the offset of {at.topic} [{at.partition}] is listed twice")
    offsets[at] = commit


def _checked(saved: Saved, name: str) -> Saved:
    if not saved.groups:
        raise UsageError(f"{name}: the file contains no offsets")
    return saved


def _whole(value: object, most: int = _LARGEST) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _digits(text: str, most: int = _LARGEST) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= most
