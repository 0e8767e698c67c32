"""The interface of the record core in plain Python: the reference for tests of `_records.pyx`, and the fallback without
it.

A batch stays encoded; these functions pass over its records section once. Every invalid byte is a DecodeError, and then
nothing was written.
"""

from __future__ import annotations

from kcli.proto.murmur2 import murmur2, partition_of
from kcli.proto.plain.avro import AvroReader, frame_ids, frame_names
from kcli.proto.plain.avro_columns import avro_columns
from kcli.proto.plain.builder import Builder
from kcli.proto.plain.envelopes import read_envelopes
from kcli.proto.plain.format import write_format
from kcli.proto.plain.frames import produce_frame
from kcli.proto.plain.gather import Gather
from kcli.proto.plain.headers import encode_headers
from kcli.proto.plain.json import write_json, write_readable
from kcli.proto.plain.lines import partition_keys, split_lines, unkeyed
from kcli.proto.plain.messages import Messages
from kcli.proto.plain.payloads import payload_json
from kcli.proto.plain.promise import Promise, SharedOutcome
from kcli.proto.plain.protobuf import ProtobufReader
from kcli.proto.plain.records import contains, count_visible, pick, read_columns, read_records, timed
from kcli.proto.plain.replace import replace_fields
from kcli.proto.plain.scan import any_compressed, crc32c, ends, scan, show, shown_records
from kcli.proto.plain.seal import write_header, write_stamp
from kcli.proto.plain.single import Counted, Intake, OpenBatch, OpenTopic, Stay, Taken
from kcli.proto.plain.spread import spread_rows
from kcli.proto.plain.tally import Tally
from kcli.proto.plain.values import write_many, write_values
from kcli.proto.plain.walk import Header, read_headers

__all__ = [
    "NAME",
    "AvroReader",
    "Builder",
    "Counted",
    "Gather",
    "Header",
    "Intake",
    "Messages",
    "OpenBatch",
    "OpenTopic",
    "Promise",
    "ProtobufReader",
    "SharedOutcome",
    "Stay",
    "Taken",
    "Tally",
    "any_compressed",
    "avro_columns",
    "contains",
    "count_visible",
    "crc32c",
    "encode_headers",
    "ends",
    "frame_ids",
    "frame_names",
    "murmur2",
    "partition_keys",
    "partition_of",
    "payload_json",
    "pick",
    "produce_frame",
    "read_columns",
    "read_envelopes",
    "read_headers",
    "read_records",
    "replace_fields",
    "scan",
    "show",
    "shown_records",
    "split_lines",
    "spread_rows",
    "timed",
    "unkeyed",
    "write_format",
    "write_header",
    "write_json",
    "write_many",
    "write_readable",
    "write_stamp",
    "write_values",
]

NAME = "python"
