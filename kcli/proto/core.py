"""Selects the record core: the compiled one, or plain Python if that was not built, or with KCLI_PURE_PYTHON=1."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING or os.environ.get("KCLI_PURE_PYTHON") == "1":
    from kcli.proto import records as _core
else:
    try:
        from kcli.proto import _records as _core
    except ImportError:
        from kcli.proto import records as _core

NAME: str = _core.NAME
AvroReader = _core.AvroReader
Builder = _core.Builder
Counted = _core.Counted
OpenBatch = _core.OpenBatch
SharedOutcome = _core.SharedOutcome
Gather = _core.Gather
Header = _core.Header
Intake = _core.Intake
Messages = _core.Messages
OpenTopic = _core.OpenTopic
Promise = _core.Promise
ProtobufReader = _core.ProtobufReader
Stay = _core.Stay
Taken = _core.Taken
Tally = _core.Tally
any_compressed = _core.any_compressed
avro_columns = _core.avro_columns
contains = _core.contains
count_visible = _core.count_visible
crc32c = _core.crc32c
ends = _core.ends
frame_ids = _core.frame_ids
frame_names = _core.frame_names
murmur2 = _core.murmur2
partition_keys = _core.partition_keys
partition_of = _core.partition_of
payload_json = _core.payload_json
pick = _core.pick
produce_frame = _core.produce_frame
read_columns = _core.read_columns
read_envelopes = _core.read_envelopes
read_headers = _core.read_headers
read_records = _core.read_records
replace_fields = _core.replace_fields
scan = _core.scan
show = _core.show
shown_records = _core.shown_records
split_lines = _core.split_lines
spread_rows = _core.spread_rows
timed = _core.timed
unkeyed = _core.unkeyed
write_format = _core.write_format
write_header = _core.write_header
write_json = _core.write_json
write_many = _core.write_many
write_readable = _core.write_readable
write_stamp = _core.write_stamp
write_values = _core.write_values
