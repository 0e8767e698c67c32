"""Every message at every version: what was written is read, and hostile bytes raise DecodeError and nothing else."""

from __future__ import annotations

import random
import traceback
import tracemalloc

import pytest

from kcli.errors import DecodeError, EncodeError
from kcli.proto.messages.create_topics import CreateTopicsRequest
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kcli.proto.messages.metadata import MetadataRequest, MetadataResponse
from kcli.proto.schema import Message
from tests.each import each
from tests.effort import tries
from tests.proto.samples import message_versions, messages, plain, sample

EVERY = [pytest.param(m, v, id=f"{m.__name__}-v{v}") for m, v in message_versions()]


@pytest.mark.slow
@each(("message", "version"), EVERY)
def test_what_was_encoded_is_decoded(message: type[Message], version: int) -> None:
    rng = random.Random(f"{message.__name__}{version}")
    for _ in range(10):
        value = sample(message, version, rng)
        wire = b"".join(value.encode(version))
        assert plain(message.decode(version, wire)) == plain(value)


@pytest.mark.slow
@each(("message", "version"), EVERY)
def test_B14_mutated_bytes_raise_only_our_decode_error(message: type[Message], version: int) -> None:
    rng = random.Random(f"fuzz {message.__name__}{version}")
    for _ in range(tries(12)):
        wire = bytearray(b"".join(sample(message, version, rng).encode(version)))
        for _ in range(12):
            broken = bytearray(wire)
            if broken:
                for _ in range(rng.choice([1, 1, 2, 5])):
                    broken[rng.randrange(len(broken))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
            cut = broken[: rng.randrange(len(broken) + 1)] if rng.random() < 0.5 else broken
            try:
                message.decode(version, cut)
            except DecodeError:
                pass


@each("message", [m for m in messages() if m.versions.last in m.flexible], ids=lambda m: m.__name__)
def test_B13_unknown_tagged_fields_are_skipped(message: type[Message]) -> None:
    version = message.versions.last
    value = message()
    wire = b"".join(value.encode(version))
    assert wire.endswith(b"\x00")
    foreign = wire[:-1] + b"\x02" + b"\xe8\x07\x03abc" + b"\xe9\x07\x00"
    assert plain(message.decode(version, foreign)) == plain(value)


def test_B14_a_claimed_million_elements_allocates_nothing() -> None:
    claim = b"\x00\x00\x00\x00" + (2**31 - 1).to_bytes(4, "big")
    tracemalloc.start()
    with pytest.raises(DecodeError, match="claims"):
        MetadataResponse.decode(3, claim)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_B14_a_varint_of_six_bytes_is_refused() -> None:
    with pytest.raises(DecodeError, match="varint"):
        MetadataRequest.decode(12, b"\xff\xff\xff\xff\xff\x01")


def test_a_value_the_version_cannot_say_raises() -> None:
    with pytest.raises(EncodeError, match="allow_auto_topic_creation = False cannot be encoded in version 3"):
        MetadataRequest(topics=None, allow_auto_topic_creation=False).encode(3)


def test_an_ignorable_field_is_left_out_silently() -> None:
    asked = ListOffsetsPartition(partition_index=1, current_leader_epoch=7, timestamp=-1)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=[asked])])
    back = ListOffsetsRequest.decode(1, b"".join(request.encode(1)))
    assert back.topics[0].partitions[0].current_leader_epoch == -1


def test_a_version_outside_the_range_raises() -> None:
    with pytest.raises(EncodeError, match="CreateTopicsRequest has versions 2-7, not 9"):
        CreateTopicsRequest().encode(9)


def test_a_traceback_shows_the_line_of_the_generated_code() -> None:
    with pytest.raises(EncodeError) as caught:
        MetadataRequest(topics=7).encode(12)  # type: ignore[arg-type]
    assert caught.value.__cause__ is not None
    shown = "".join(traceback.format_tb(caught.value.__cause__.__traceback__))
    assert "MetadataRequest v12 w" in shown
    assert "len(x)" in shown
