"""Messages as JSON: every one at every version comes back as it was, and what is wrong is named by its path."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from kcli.errors import UsageError
from kcli.proto.as_json import from_json, to_json
from kcli.proto.messages.fetch import FetchRequest
from kcli.proto.messages.metadata import MetadataRequest
from kcli.proto.messages.produce import ProduceRequest
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import NO_ID, Message
from tests.each import each
from tests.proto.samples import message_versions, plain, sample

EVERY = [pytest.param(m, v, id=f"{m.__name__}-v{v}") for m, v in message_versions()]


@each(("message", "version"), EVERY)
def test_a_message_comes_back_as_it_was(message: type[Message], version: int) -> None:
    value = sample(message, version, random.Random(f"json {message.__name__}{version}"))
    text = json.dumps(to_json(value, version))
    back = from_json(message, version, json.loads(text))
    assert plain(back) == plain(value)
    assert b"".join(back.encode(version)) == b"".join(value.encode(version))  # type: ignore[attr-defined]


def test_our_own_names_are_taken_too_but_not_both() -> None:
    made: Any = from_json(FetchRequest, 12, {"max_wait_ms": 5, "minBytes": 1})
    assert (made.max_wait_ms, made.min_bytes, made.max_bytes) == (5, 1, 0x7FFFFFFF)
    with pytest.raises(UsageError, match="given twice, as max_wait_ms and as maxWaitMs"):
        from_json(FetchRequest, 12, {"maxWaitMs": 5, "max_wait_ms": 6})
    assert camel("results_by_topic_v3_and_below") == "resultsByTopicV3AndBelow"


def test_ids_are_kafkas_base64_or_a_uuid() -> None:
    for text in ("AAAAAAAAAAAAAAAAAAAAAg", "00000000-0000-0000-0000-000000000002", "0" * 31 + "2"):
        made: Any = from_json(MetadataRequest, 12, {"topics": [{"topicId": text}]})
        assert made.topics[0].topic_id == bytes(15) + b"\x02"
    made = from_json(MetadataRequest, 12, {"topics": [{"topicId": "", "name": "t"}]})
    assert made.topics[0].topic_id == NO_ID


@pytest.mark.parametrize(
    ("kind", "version", "given", "said"),
    [
        (MetadataRequest, 12, [], "the body: expected an object of MetadataRequest, got a list"),
        (MetadataRequest, 12, {"topix": []}, "topix: MetadataRequest has no such field; did you mean topics?"),
        (MetadataRequest, 12, {"topics": {}}, "topics: expected a list, got an object"),
        (MetadataRequest, 12, {"topics": ["t"]}, r"topics\[0\]: expected an object of MetadataRequestTopic"),
        (MetadataRequest, 12, {"topics": [None]}, r"topics\[0\]: cannot be null"),
        (MetadataRequest, 12, {"topics": [{"name": 5}]}, r"topics\[0\].name: expected a string, got 5"),
        (MetadataRequest, 12, {"topics": [{"topicId": "x"}]}, r"topics\[0\].topicId: 'x' is not an id"),
        (MetadataRequest, 0, {"topics": None}, "topics: cannot be null in version 0; it may be in versions 1"),
        (MetadataRequest, 3, {"allowAutoTopicCreation": True}, "only versions 4.* have it, but this is version 3"),
        (MetadataRequest, 12, {"allowAutoTopicCreation": 1}, "expected true or false, got 1"),
        (FetchRequest, 12, {"maxWaitMs": 1 << 31}, "does not fit an int32"),
        (FetchRequest, 12, {"maxWaitMs": True}, r"expected a whole number \(int32\), got true"),
        (FetchRequest, 12, {"maxWaitMs": 1.5}, "expected a whole number"),
        (FetchRequest, 12, {"maxWaitMs": "1"}, "expected a whole number .*, got the string '1'"),
        (
            ProduceRequest,
            9,
            {"topicData": [{"name": "t", "partitionData": [{"index": 0, "records": "%"}]}]},
            r"topicData\[0\].partitionData\[0\].records: '%' is not base64",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_path(kind: type[Message], version: int, given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        from_json(kind, version, given)


@each(
    ("message", "version"),
    [pytest.param(m, v, id=f"{m.__name__}-v{v}") for m, v in message_versions() if m.__name__.endswith("Request")],
)
def test_an_empty_body_is_a_request_of_defaults(message: type[Message], version: int) -> None:
    made: Any = from_json(message, version, {})
    assert made == message()
    assert plain(message.decode(version, b"".join(made.encode(version)))) == plain(made)
