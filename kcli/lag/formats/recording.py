"""Refreshes as JSON lines, to examine an incident later: `kcli lag record`, `kcli lag --replay`.

A line holds the data read from the cluster, not derived figures, so that a newer kcli can derive more from an old file.
It is written and read group by group: a line for 100,000 partitions has 24 MB, and `json` blocks other threads while it
works.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from kcli.admin.groups.rows import Described, Member
from kcli.errors import DecodeError, KcliError
from kcli.lag.figures import Sample
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.model import TopicPartition
from kcli.text.escape import printable
from kcli.values import Value

VERSION = "kcli.lag.samples/1"
MEMBER = ("member_id", "instance_id", "client_id", "host")
DESCRIBED = ("group", "type", "state", "protocol", "assignor", "epoch", "coordinator")
SAMPLE = (
    "topic",
    "partition",
    "committed",
    "begins",
    "end",
    "start",
    "stable",
    "owned",
    "member_id",
    "client_id",
    "host",
    "error",
    "counted",
    "written",
    "stable_end",
    "drained",
)
HEAD = f'{{"kcli":"{VERSION}"'
"""Beginning of a line written by this version of kcli."""
GROUPS = '"groups":['
"""Text before the first group. In a name its quotes would be escaped."""
ROW = json.JSONDecoder()
LATER = {"begins": None, "counted": None, "written": None, "stable_end": False, "drained": False}
"""Fields that older recordings lack, with their defaults."""
LAST = 253_402_300_800.0
"""The year 10000, which Python's datetime does not support."""
BEGINNING = re.compile(re.escape(HEAD).encode() + rb',"time":(\d{1,11}(?:\.\d{1,3})?),"groups":\[')
HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape that may be an unpaired surrogate, which other programs could not print. kcli writes none."""
TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "bool": (bool,)}
LIMIT = 2**63
END = b"}}\n"
"""End of a complete line written by kcli."""


def line(time: float, snapshot: Snapshot) -> str:
    """Return a refresh as a line. `time` is in seconds since the epoch."""
    return "".join(pieces(time, snapshot))


def pieces(time: float, snapshot: Snapshot) -> Iterator[str]:
    """Like `line`, a group at a time."""
    yield f'{HEAD},"time":{_dump(round(time, 3))},{GROUPS}'
    for number, shot in enumerate(snapshot.groups):
        yield ("," if number else "") + _dump(_row(shot))
    failed = {name: str(error) for name, error in snapshot.failed.items()}
    brokers = {str(node): str(error) for node, error in snapshot.brokers.items()}
    yield f'],"failed":{_dump(failed)},"brokers":{_dump(brokers)}}}\n'


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _row(shot: GroupSnapshot) -> dict[str, Any]:
    return {
        **{name: getattr(shot.described, name) for name in DESCRIBED},
        "members": [
            {
                **{name: getattr(member, name) for name in MEMBER},
                "assignment": [list(at) for at in member.assignment],
            }
            for member in shot.described.members
        ],
        "partitions": [{name: getattr(sample, name) for name in SAMPLE} for sample in shot.samples],
    }


def time_of(line: bytes) -> float | None:
    """Return the time of a line from its first and last bytes, without parsing the rest. None if they are not in kcli's
    form."""
    begins = BEGINNING.match(line) if line.endswith(END) else None
    return float(begins[1]) if begins is not None else None


def read(text: str) -> tuple[float, Snapshot]:
    """Parse a line into (time, refresh). Raises DecodeError for a malformed line."""
    try:
        whole, groups = _parsed(text)
        if HALF.search(text):
            _dump(json.loads(text)).encode()
        if whole["kcli"] != VERSION:
            raise DecodeError(f"a recording of version {printable(str(whole['kcli']))}; this kcli reads {VERSION}")
        snapshot = Snapshot(
            groups=[*groups, *(_group(row) for row in whole["groups"])],
            failed={name: KcliError(text) for name, text in whole["failed"].items()},
            brokers={int(node): KcliError(text) for node, text in whole["brokers"].items()},
        )
        moment = float(whole["time"])
        if not 0 <= moment < LAST:
            raise DecodeError(f"its time is {moment:.15g}, which is not a valid time in epoch seconds")
        return moment, snapshot
    except KeyError as problem:
        raise DecodeError(f"not a line of a lag recording: it has no {problem}") from problem
    except RecursionError as problem:
        raise DecodeError("not a line of a lag recording: it is nested too deeply") from problem
    except (ValueError, TypeError, AttributeError, OverflowError) as problem:
        raise DecodeError(f"not a line of a lag recording: {printable(str(problem))}") from problem


def _parsed(text: str) -> tuple[dict[str, Any], list[GroupSnapshot]]:
    """Parse a line into JSON and the groups extracted from it; no groups if it is not in kcli's own form. Raises
    ValueError."""
    begin = text.find(GROUPS) if text.startswith(HEAD) else -1
    groups: list[GroupSnapshot] = []
    end = begin + len(GROUPS)
    try:
        while begin >= 0 and text[end] != "]":
            if groups and text[end] != ",":
                raise ValueError("no comma")
            row, end = ROW.raw_decode(text, end + bool(groups))
            groups.append(_group(row))
        if begin >= 0:
            return json.loads(f"{text[:begin]}{GROUPS}{text[end:]}"), groups
    except (ValueError, IndexError):
        pass  # parsing the whole line finds the error and its place
    return json.loads(text), []


def _group(row: dict[str, Any]) -> GroupSnapshot:
    members = [
        Member(
            **_fields(row, OF_MEMBER),
            assignment=[
                TopicPartition(**_fields({"topic": topic, "partition": partition}, PLACE))
                for topic, partition in row["assignment"]
            ],
        )
        for row in row["members"]
    ]
    described = Described(**_fields(row, OF_GROUP), members=members)
    samples = [Sample(group=described.group, **_fields(row, OF_SAMPLE)) for row in row["partitions"]]
    return GroupSnapshot(described=described, samples=samples)


def _kinds(made: type[Value], names: Iterable[str]) -> dict[str, tuple[type, ...]]:
    """Return the types that the fields of a class may have."""
    declared = {field.name: field.annotation for field in made.__fields__}
    return {
        name: TYPES[declared[name].removesuffix(" | None")] + ((type(None),) if "None" in declared[name] else ())
        for name in names
    }


PLACE = {"topic": TYPES["str"], "partition": TYPES["int"]}
OF_MEMBER, OF_GROUP, OF_SAMPLE = _kinds(Member, MEMBER), _kinds(Described, DESCRIBED), _kinds(Sample, SAMPLE)


def _fields(row: dict[str, Any], kinds: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    """Return the fields of a row. Raises ValueError for one of another type, and for a number out of Kafka's range."""
    fields: dict[str, Any] = {}
    for name, types in kinds.items():
        value: Any = row.get(name, LATER[name]) if name in LATER else row[name]
        fields[name] = value
        kind = type(value)
        if kind not in types or (kind is int and not -1 <= value < LIMIT):
            raise ValueError(f"its {name} is {json.dumps(value)[:40]}")
    return fields
