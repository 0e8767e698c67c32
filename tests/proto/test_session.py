"""The session without I/O: both roles, every split of the stream, and every way in which a peer can be wrong."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from kcli.errors import DecodeError
from kcli.proto.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic
from kcli.proto.messages.produce import ProduceRequest
from kcli.proto.session import SCRATCH, ClientSession, FrameReader, ServerSession
from tests.effort import tries


def feed(reader: FrameReader, data: bytes, steps: list[int]) -> list[bytes]:
    """Give `data` to the reader in pieces of the given sizes (the last one repeats)."""
    frames: list[bytes] = []
    at = step = 0
    while at < len(data):
        room = reader.buffer()
        assert len(room) > 0
        n = min(steps[min(step, len(steps) - 1)], len(room), len(data) - at)
        room[:n] = data[at : at + n]
        at, step = at + n, step + 1
        frames += [bytes(frame) for frame in reader.received(n)]
    return frames


def framed(*bodies: bytes) -> bytes:
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


def large(reader: FrameReader, body: bytes) -> memoryview:
    """The one frame of `body`, as the reader hands it out."""
    data = framed(body)
    frames: list[memoryview] = []
    while data:
        room = reader.buffer()
        n = min(len(room), len(data))
        room[:n] = data[:n]
        frames += reader.received(n)
        data = data[n:]
    [frame] = frames
    return frame


@pytest.mark.long
def test_B1_a_frame_that_somebody_holds_is_never_written_over() -> None:
    reader = FrameReader(1 << 24)
    rng = random.Random(4)
    held: list[tuple[bytes, memoryview]] = []
    for _ in range(tries(200)):
        body = rng.randbytes(1) * rng.randrange(SCRATCH, 5 * SCRATCH)
        held.append((body, large(reader, body)[:]))
        if rng.random() < 0.6:
            held.pop(rng.randrange(len(held)))
        assert all(body == view for body, view in held)


def test_the_buffer_of_a_frame_that_is_done_with_is_used_again() -> None:
    reader = FrameReader(1 << 24)
    first = large(reader, bytes(3 * SCRATCH))
    buffer = first.obj
    slice_of_it = first[10:20]
    del first
    assert large(reader, bytes(3 * SCRATCH)).obj is not buffer
    del slice_of_it
    assert large(reader, b"x" * (3 * SCRATCH + 1)).obj is buffer
    assert large(reader, bytes(20 * SCRATCH)).obj is not buffer


@pytest.mark.parametrize("trusting", [True, False])
def test_B1_an_announcement_is_trusted_as_far_as_the_peer_has_sent_before(trusting: bool) -> None:
    reader = FrameReader(1 << 24, trusting=trusting)
    announced = (20 * SCRATCH).to_bytes(4, "big")
    held = []
    for filling in (False, True):
        rest = reader.buffer()
        rest[:4] = announced
        assert not reader.received(4)
        assert (reader.filling > 19 * SCRATCH) is (filling and trusting)
        del rest
        data = bytes(20 * SCRATCH)
        while data:
            room = reader.buffer()
            n = min(len(room), len(data))
            room[:n] = data[:n]
            held += reader.received(n)
            data = data[n:]


def test_three_frames_that_take_turns_have_a_buffer_each_unless_they_are_very_large() -> None:
    for size, kept in ((30 * SCRATCH, True), (60 * SCRATCH, False)):
        reader = FrameReader(1 << 24)
        first, second, third = (large(reader, bytes(size)) for _ in range(3))
        buffer = first.obj
        del first
        assert (large(reader, bytes(size)).obj is buffer) is kept
        del second, third


def test_a_buffer_that_is_used_again_was_not_moved() -> None:
    """To move it costs a copy of it, in fresh pages."""
    reader = FrameReader(1 << 30)
    for size in (5 * SCRATCH, 30 * SCRATCH, 30 * SCRATCH):
        before = sys.getsizeof(large(reader, bytes(size)).obj)
        kept = large(reader, bytes(size))
        assert sys.getsizeof(kept.obj) == before
        del kept


def test_a_frame_that_grows_while_the_transport_looks_at_it_arrives_whole() -> None:
    body = random.Random(1).randbytes(40 * SCRATCH)
    reader, data, views = FrameReader(1 << 30, trusting=False), framed(body), list[memoryview]()
    while data:
        views.append(reader.buffer())
        got = min(len(views[-1]), len(data))
        views[-1][:got], data = data[:got], data[got:]
        frames = reader.received(got)
    assert frames == [body]


def test_a_stream_is_cut_the_same_wherever_it_is_split() -> None:
    bodies = [b"", b"a", b"hello" * 20, b"z" * 300]
    stream = framed(*bodies)
    for cut in range(1, len(stream)):
        assert feed(FrameReader(1 << 20), stream, [cut, len(stream)]) == bodies
    assert feed(FrameReader(1 << 20), stream, [1]) == bodies


@pytest.mark.parametrize("size", [SCRATCH - 5, SCRATCH - 4, SCRATCH - 3, SCRATCH, SCRATCH + 1, 3 * SCRATCH + 17])
def test_frames_around_the_size_of_the_scratch_buffer_arrive_whole(size: int) -> None:
    rng = random.Random(size)
    bodies = [rng.randbytes(n) for n in (10, size, 0, size, 77)]
    for _ in range(10):
        steps = [rng.choice([1, 3, 4, 1000, SCRATCH]) for _ in range(50)] + [SCRATCH]
        assert feed(FrameReader(1 << 20), framed(*bodies), steps) == bodies


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "TLS"),
        (b"\xff\xff\xff\xff", "-1 bytes"),
        (b"\x7f\xff\xff\xff", "over the limit"),
    ],
)
def test_B1_an_impossible_size_is_diagnosed_before_anything_is_allocated(head: bytes, sentence: str) -> None:
    reader = FrameReader(1 << 20)
    with pytest.raises(DecodeError, match=sentence):
        feed(reader, head, [len(head)])


@pytest.mark.parametrize("version", range(14))
def test_B2_headers_of_both_roles_fit_at_every_version(version: int) -> None:
    client, server = ClientSession("kcli-größe"), ServerSession()
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    (frame,) = feed(FrameReader(1 << 20), b"".join(client.send(asked, version)), [3])
    received = server.receive(frame)
    assert (received.client_id, received.version) == ("kcli-größe", version)
    assert received.request is not None
    answer = MetadataResponse(topics=[MetadataResponseTopic(name="t")])
    (frame,) = feed(FrameReader(1 << 20), b"".join(server.respond(received, answer)), [5])
    question, response = client.receive(frame)
    assert question.request is asked
    assert isinstance(response, MetadataResponse)
    assert response.topics[0].name == "t"


@pytest.mark.parametrize("version", range(5))
def test_B2_the_answer_to_api_versions_has_header_v0(version: int) -> None:
    client, server = ClientSession(None), ServerSession()
    asked = ApiVersionsRequest(client_software_name="kcli", client_software_version="1")
    received = server.receive(b"".join(client.send(asked, version))[4:])
    wire = b"".join(server.respond(received, ApiVersionsResponse(api_keys=[ApiVersion(api_key=18, max_version=4)])))
    assert wire[8:10] == b"\x00\x00"  # the error code follows the correlation id at once, no tagged fields between
    _, response = client.receive(wire[4:])
    assert isinstance(response, ApiVersionsResponse)
    assert response.api_keys[0].max_version == 4


def test_api_versions_in_the_same_bytes_is_decoded_once() -> None:
    def told(most: int, keys: int = 1) -> Any:
        client, server = ClientSession(None), ServerSession()
        received = server.receive(b"".join(client.send(ApiVersionsRequest(client_software_name="kcli"), 4))[4:])
        answer = ApiVersionsResponse(api_keys=[ApiVersion(api_key=18, max_version=most)] * keys)
        return client.receive(b"".join(server.respond(received, answer))[4:])[1]

    first = told(4)
    assert told(4) is first
    assert told(3).api_keys[0].max_version == 3
    assert told(4, 600) == told(4, 600)
    assert told(4, 600) is not told(4, 600), "what a peer makes large is not kept"


@pytest.mark.parametrize(
    "body", [b"\x00\x23", b"\x00\x23\x00\x00\x00\x00", b"\x00\x23\xff\xff", b"\x00\x23" + b"\x01" * 9]
)
def test_B9_a_refused_api_versions_is_read_for_its_code_whatever_its_body(body: bytes) -> None:
    client = ClientSession("x")
    client.send(ApiVersionsRequest(client_software_name="kcli", client_software_version="1"), 4)
    _, response = client.receive(b"\x00\x00\x00\x00" + body)
    assert isinstance(response, ApiVersionsResponse)
    assert response.error_code == 35


def test_B3_ids_count_up_and_wrap_to_zero() -> None:
    client = ClientSession("x")
    client._next_id = 2**31 - 1
    client.send(MetadataRequest(), 1)
    client.send(MetadataRequest(), 1)
    assert [one.correlation_id for one in client.asked] == [2**31 - 1, 0]


def test_B3_a_wrong_correlation_id_is_refused() -> None:
    client = ClientSession("x")
    client.send(MetadataRequest(), 1)
    with pytest.raises(DecodeError, match="request 7, expected 0"):
        client.receive(b"\x00\x00\x00\x07" + b"\x00" * 12)


def test_B3_an_answer_nobody_asked_for_is_refused() -> None:
    with pytest.raises(DecodeError, match="answer to no request"):
        ClientSession("x").receive(b"\x00\x00\x00\x00")


def test_D20_a_request_without_answer_takes_an_id_and_no_place_in_the_queue() -> None:
    client = ClientSession("x")
    client.send(ProduceRequest(acks=0), 9, answered=False)
    client.send(MetadataRequest(), 1)
    assert [one.correlation_id for one in client.asked] == [1]


def test_the_server_role_reports_an_unknown_api_or_version_without_decoding_it() -> None:
    server = ServerSession()
    unknown = server.receive(b"\x03\xe7\x00\x05" + b"\x00\x00\x00\x09" + b"\x00\x01x" + b"junk")
    assert (unknown.api_key, unknown.version, unknown.correlation_id, unknown.request) == (999, 5, 9, None)


def test_B14_the_server_role_survives_hostile_frames() -> None:
    rng = random.Random(14)
    good = b"".join(ClientSession("client").send(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 12))[4:]
    for _ in range(tries(3000)):
        frame = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            frame[rng.randrange(len(frame))] = rng.randrange(256)
        try:
            ServerSession().receive(bytes(frame[: rng.randrange(len(frame) + 1)]))
        except DecodeError:
            pass
