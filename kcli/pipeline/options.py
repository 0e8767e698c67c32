"""The options of `format("kcli")`: Spark's own Kafka names and defaults, and a few of kcli's. Names are
case-insensitive.

Everything is checked before anything is done; an unknown name is refused with the most similar known one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from kcli.errors import UsageError
from kcli.pipeline.offset_options import Places, places_of, timestamps_of
from kcli.pipeline.pickling import Carried
from kcli.pipeline.schemas.wanted import REGISTERED
from kcli.text.patterns import compiled
from kcli.text.suggest import did_you_mean

COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
TYPES = {
    "key": "BINARY",
    "value": "BINARY",
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP",
    "timestampType": "INT",
    "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
    "keyError": "STRING",
    "valueError": "STRING",
    "keyUnknown": "STRING",
    "valueUnknown": "STRING",
}
ABOUT = ("Error", "Unknown")
"""Suffixes of columns about key or value: problems, and unknown fields."""
FORMATS = ("binary", "string", "json", "msgpack", *REGISTERED)
KNOWN = """
assign subscribe subscribePattern startingTimestamp startingOffsetsByTimestamp startingOffsets
startingOffsetsByTimestampStrategy endingTimestamp endingOffsetsByTimestamp endingOffsets failOnDataLoss
maxOffsetsPerTrigger minOffsetsPerTrigger maxTriggerDelay maxBytesPerTrigger minPartitions maxRecordsPerPartition
maxBytesPerPartition
groupIdPrefix kafkaConsumer.pollTimeoutMs fetchOffset.numRetries fetchOffset.retryIntervalMs includeHeaders topic path
columns keyFormat valueFormat keySchema valueSchema commitGroup context pushdown progressAddr stopFile
checkpointLocation keepTimestamp brokerMap exactlyOnce sourceIds onBad quarantine unknownFields unknownWithin
emit.default.values
schemaRegistry keySubject valueSubject keySubjectStrategy valueSubjectStrategy keyReaderSchema readerSchema
keyWriterSchema writerSchema registerSchemas withoutRules
""".split()
TOPIC = "topic:"
"""Prefix of a quarantine that is a topic."""
PASSED_OVER = ("groupIdPrefix", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs")
"""Options of Spark's source without effect here: reading needs no group, and the client retries by itself."""
_DURATION = re.compile(r"\s*(\d+)\s*(ms|s|m|min|h|d|milliseconds?|seconds?|minutes?|hours?|days?)?\s*")


class ReadOptions(Carried):
    """What to read, and the range. `kind` is assign, subscribe or subscribePattern, `what` its value."""

    kind: str = ""
    what: str = ""
    assigned: tuple[tuple[str, int], ...] = ()
    starting: Places = Places()
    ending: Places = Places()
    fail_on_data_loss: bool = True
    max_offsets: int | None = None
    min_offsets: int | None = None
    max_bytes: int | None = None
    max_delay: float = 900.0
    min_partitions: int = 0
    max_records: int = 0
    max_partition_bytes: int = 0
    poll_timeout: float = 120.0
    columns: tuple[str, ...] = COLUMNS
    key_format: str = "binary"
    value_format: str = "binary"
    key_schema: str = ""
    value_schema: str = ""
    null_bad: bool = False
    drop_bad: bool = False
    quarantine: str = ""
    on_unknown: str = "ignore"
    unknown_within: tuple[str, ...] = ()
    commit_group: str = ""
    pushdown: bool = False
    progress: str = ""
    stop_file: str = ""

    def ddl(self, types: Mapping[str, str] | None = None) -> str:
        """Return the schema of a read as Spark DDL. `types` are those of keys and values with a registry's schemas."""
        return ", ".join(f"`{name}` {(types or {}).get(name) or self._type(name)}" for name in self.columns)

    def _type(self, name: str) -> str:
        form, inner = {"key": (self.key_format, self.key_schema), "value": (self.value_format, self.value_schema)}.get(
            name, ("binary", "")
        )
        if form == "string":
            return "STRING"
        return TYPES[name] if form == "binary" else f"STRUCT<{inner}>"


class WriteOptions(Carried):
    """Where rows are written. `topic` overrides the topic column, `exactly_once` names a copy that writes no record
    twice, and `source_ids` are the ids of the topics that it reads."""

    topic: str = ""
    keep_timestamp: bool = False
    exactly_once: str = ""
    source_ids: tuple[tuple[str, str], ...] = ()
    progress: str = ""


def schema_of(options: Mapping[str, str], types: Mapping[str, str] | None = None) -> str:
    """Return the schema for the options of a read, before it is known whether it is a batch or a stream. `types` are
    those of keys and values with a registry's schemas."""
    given = {key.lower(): text for key, text in options.items()}
    known(given)
    return _shape(given).ddl(types)


def _shape(given: Mapping[str, str]) -> ReadOptions:
    """Return the options that determine the columns."""
    return ReadOptions(
        columns=_columns(given, _flag(given, "includeHeaders", False)),
        key_format=_format(given, "key"),
        value_format=_format(given, "value"),
        key_schema=given.get("keyschema", ""),
        value_schema=given.get("valueschema", ""),
    )


def read_options(options: Mapping[str, str], *, streaming: bool) -> ReadOptions:
    """The options of a read. Raises UsageError."""
    given = {key.lower(): text for key, text in options.items()}
    known(given)
    kind, what = _subject(given)
    chosen = _shape(given).replace(
        kind=kind,
        what=what,
        assigned=_assigned(what) if kind == "assign" else (),
        starting=_starting(given, streaming),
        ending=_ending(given, streaming),
        fail_on_data_loss=_flag(given, "failOnDataLoss", True),
        max_offsets=_number(given, "maxOffsetsPerTrigger"),
        min_offsets=_number(given, "minOffsetsPerTrigger"),
        max_bytes=_size(given, "maxBytesPerTrigger"),
        max_delay=_duration(given, "maxTriggerDelay", 900.0),
        min_partitions=_number(given, "minPartitions") or 0,
        max_records=_number(given, "maxRecordsPerPartition") or 0,
        max_partition_bytes=_size(given, "maxBytesPerPartition") or 0,
        poll_timeout=(_number(given, "kafkaConsumer.pollTimeoutMs") or 120_000) / 1000,
        null_bad=_on_bad(given) != "fail",
        drop_bad=_on_bad(given) == "quarantine",
        quarantine=_quarantine(given),
        on_unknown=_on_unknown(given),
        unknown_within=tuple(path.strip() for path in given.get("unknownwithin", "").split(",") if path.strip()),
        commit_group=given.get("commitgroup", ""),
        pushdown=_flag(given, "pushdown", False),
        progress=_address(given),
        stop_file=given.get("stopfile", ""),
    )
    if chosen.min_offsets is not None and chosen.max_offsets is not None and chosen.min_offsets > chosen.max_offsets:
        raise UsageError("option minOffsetsPerTrigger is more than maxOffsetsPerTrigger")
    return chosen


def write_options(options: Mapping[str, str]) -> WriteOptions:
    """The options of a write. Raises UsageError."""
    given = {key.lower(): text for key, text in options.items()}
    known(given)
    return WriteOptions(
        topic=given.get("topic", given.get("path", "")),
        keep_timestamp=_flag(given, "keepTimestamp", False),
        exactly_once=given.get("exactlyonce", ""),
        source_ids=_ids(given.get("sourceids", "{}")),
        progress=_address(given),
    )


def known(given: Mapping[str, str]) -> None:
    """Raise UsageError for an unknown option. `kafka.*` and `schema.registry.*` are checked elsewhere."""
    names = {name.lower() for name in KNOWN}
    for key in given:
        if not key.startswith(("kafka.", "schema.registry.")) and key not in names:
            raise UsageError(f"unknown option {key}{did_you_mean(key, KNOWN)}")


def _subject(given: Mapping[str, str]) -> tuple[str, str]:
    kinds = [kind for kind in ("assign", "subscribe", "subscribePattern") if kind.lower() in given]
    if not kinds and given.get("path"):
        return "subscribe", given["path"]  # .load("orders")
    if len(kinds) != 1:
        raise UsageError(
            "set exactly one of the options subscribe, subscribePattern and assign; "
            + ("none is set" if not kinds else f"{' and '.join(kinds)} are set")
        )
    kind = kinds[0]
    what = given[kind.lower()].strip()
    if not what.strip(","):
        raise UsageError(f"option {kind} is empty")
    if kind == "subscribePattern":
        try:
            compiled(what)
        except re.error as problem:
            raise UsageError(f"option subscribePattern {what} is not a regular expression: {problem}") from None
    return kind, what


def _assigned(text: str) -> tuple[tuple[str, int], ...]:
    """Parse `{"orders":[0,1]}` into pairs."""
    import json

    try:
        return tuple((str(topic), int(part)) for topic, parts in json.loads(text).items() for part in parts)
    except (ValueError, TypeError, AttributeError):
        raise UsageError(f'option assign {text}: expected JSON such as {{"orders":[0,1]}}') from None


def _ids(text: str) -> tuple[tuple[str, str], ...]:
    """Parse `{"orders":"Xq2…"}` into pairs."""
    import json

    try:
        return tuple((str(topic), str(one)) for topic, one in json.loads(text).items())
    except (ValueError, AttributeError):
        raise UsageError(f'option sourceIds {text}: expected JSON such as {{"orders":"ID"}}') from None


def _starting(given: Mapping[str, str], streaming: bool) -> Places:
    strategy = given.get("startingoffsetsbytimestampstrategy", "error").lower()
    if strategy not in ("error", "latest"):
        raise UsageError("option startingOffsetsByTimestampStrategy must be error or latest")
    if "startingtimestamp" in given:
        return Places(kind="time", time=_number(given, "startingTimestamp") or 0, strict=strategy == "error")
    if "startingoffsetsbytimestamp" in given:
        times = timestamps_of(given["startingoffsetsbytimestamp"], "startingOffsetsByTimestamp")
        return Places(kind="times", each=times, strict=strategy == "error")
    text = given.get("startingoffsets", "latest" if streaming else "earliest").strip()
    if text.lower() == "latest" and not streaming:
        raise UsageError("option startingOffsets latest: a batch would be empty; use offsets or earliest")
    places = places_of(text, "startingOffsets")
    if not streaming and any(offset == -1 for _, offset in places.each):
        raise UsageError("option startingOffsets: a batch cannot start at -1 (latest)")
    return places


def _ending(given: Mapping[str, str], streaming: bool) -> Places:
    names = [name for name in ("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets") if name.lower() in given]
    if names and streaming:
        raise UsageError(f"option {names[0]} works only in batches; a stream has no end")
    if "endingtimestamp" in given:
        return Places(kind="time", time=_number(given, "endingTimestamp") or 0)
    if "endingoffsetsbytimestamp" in given:
        return Places(kind="times", each=timestamps_of(given["endingoffsetsbytimestamp"], "endingOffsetsByTimestamp"))
    text = given.get("endingoffsets", "latest").strip()
    places = places_of(text, "endingOffsets")
    if places.kind == "earliest" or any(offset == -2 for _, offset in places.each):
        raise UsageError("option endingOffsets: a batch cannot end at earliest (-2)")
    return places


def _columns(given: Mapping[str, str], headers: bool) -> tuple[str, ...]:
    everything = (*COLUMNS, "headers") if headers else COLUMNS
    text = given.get("columns", "").strip()
    if not text:
        return everything
    folded = {name.lower(): name for name in TYPES}
    found = []
    for name in (part.strip() for part in text.split(",")):
        if name.lower() not in folded:
            raise UsageError(f"option columns: unknown column {name}{did_you_mean(name, TYPES)}")
        found.append(folded[name.lower()])
    for name, end in ((name, end) for name in ("key", "value") for end in ABOUT):
        if f"{name}{end}" in found and name not in found:
            raise UsageError(f"option columns: {name}{end} refers to the column {name}, which is not read")
    return tuple(dict.fromkeys(found))


def _format(given: Mapping[str, str], field: str) -> str:
    form = given.get(f"{field}format", "binary").lower()
    if form not in FORMATS:
        raise UsageError(f"option {field}Format {form}: expected one of {', '.join(FORMATS)}")
    if form in ("json", "msgpack") and not given.get(f"{field}schema", "").strip():
        raise UsageError(
            f"option {field}Format {form} requires {field}Schema, such as 'id BIGINT, user STRUCT<name: STRING>'"
        )
    return form


def _on_bad(given: Mapping[str, str]) -> str:
    """Return the action for a record that does not fit its format."""
    text = given.get("onbad", "fail").strip().lower()
    if text not in ("fail", "null", "quarantine"):
        raise UsageError(f"option onBad must be fail, null or quarantine, not {text}")
    return text


def _on_unknown(given: Mapping[str, str]) -> str:
    """Return the action for a record with fields that its schema lacks."""
    text = given.get("unknownfields", "ignore").strip().lower()
    if text not in ("ignore", "fail", "bad"):
        raise UsageError(f"option unknownFields must be ignore, fail or bad, not {text}")
    return text


def _quarantine(given: Mapping[str, str]) -> str:
    """Return the folder, or the topic, for records that did not fit; "" for none."""
    place = given.get("quarantine", "").strip()
    if place and _on_bad(given) == "fail":
        raise UsageError("option quarantine requires onBad=quarantine or onBad=null")
    if not place and _on_bad(given) == "quarantine":
        raise UsageError(f"option onBad=quarantine requires the option quarantine: a folder or {TOPIC}NAME")
    if place and not os.path.isabs(place) and (place == TOPIC or not place.startswith(TOPIC)):
        raise UsageError(
            f"option quarantine {place}: expected the absolute path of a folder that every executor has, or {TOPIC}NAME"
        )
    return place


def _flag(given: Mapping[str, str], name: str, usual: bool) -> bool:
    text = given.get(name.lower(), str(usual)).strip().lower()
    if text not in ("true", "false"):
        raise UsageError(f"option {name} must be true or false, not {text}")
    return text == "true"


def _number(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    if not text.strip().isdigit() or not text.isascii():
        raise UsageError(f"option {name} must be a number, not {text}")
    return int(text)


def _size(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)(i?b)?\s*", text.lower())
    if match is None:
        raise UsageError(f"option {name} must be a size such as 64m, not {text}")
    scale: int = 1024 ** "_kmgt".index(match[2] or "_")
    return int(match[1]) * scale


def _duration(given: Mapping[str, str], name: str, usual: float) -> float:
    text = given.get(name.lower())
    if text is None:
        return usual
    match = _DURATION.fullmatch(text.lower())
    if match is None:
        raise UsageError(f"option {name} must be a duration such as 15m, not {text}")
    unit = match[2] or "ms"
    scale = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}.get(unit)
    if scale is None:
        scale = {"mil": 0.001, "sec": 1.0, "min": 60.0, "hou": 3600.0, "day": 86400.0}[unit[:3]]
    return int(match[1]) * scale


def _address(given: Mapping[str, str]) -> str:
    text = given.get("progressaddr", "")
    host, colon, port = text.rpartition(":")
    if text and not (host and colon and port.isdigit()):
        raise UsageError(f"option progressAddr must be HOST:PORT, not {text}")
    return text
