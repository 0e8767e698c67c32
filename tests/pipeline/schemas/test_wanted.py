"""Which schema a read is given, by its options."""

from __future__ import annotations

import pytest

from kcli.errors import UsageError
from kcli.pipeline.schemas.wanted import wanted_of
from tests.each import each

AVRO = {"subscribe": "orders", "valueformat": "avro"}


@each(
    ("given", "subject", "reader"),
    [
        (AVRO, "orders-value", "latest"),
        ({"path": "orders", "valueformat": "AVRO"}, "orders-value", "latest"),
        ({"assign": '{"orders":[0,1]}', "valueformat": "avro"}, "orders-value", "latest"),
        ({**AVRO, "valuesubject": "shop.Order"}, "shop.Order", "latest"),
        ({**AVRO, "subscribe": "a,b", "readerschema": "id:7"}, "", "id:7"),
        ({**AVRO, "readerschema": "file:/tmp/x.avsc"}, "orders-value", "file:/tmp/x.avsc"),
    ],
)
def test_the_subject_is_that_of_the_topic_unless_said(given: dict[str, str], subject: str, reader: str) -> None:
    (found,) = wanted_of(given)
    assert (found.field, found.kind, found.subject, found.reader) == ("value", "AVRO", subject, reader)


@each(
    ("given", "sentence"),
    [
        ({**AVRO, "subscribe": "a,b"}, "option valueSubject is missing: with several topics"),
        ({"subscribepattern": "a.*", "keyformat": "avro"}, "option keySubject is missing"),
        ({**AVRO, "readerschema": "7"}, "option readerSchema is latest, id:N or file:PATH, not 7"),
        ({**AVRO, "readerschema": "id:x"}, "not id:x"),
        ({**AVRO, "readerschema": "file:"}, "not file:"),
        ({**AVRO, "valueschema": "id INT"}, "option valueSchema is DDL for json and msgpack"),
        ({"subscribe": "orders", "valuesubject": "x"}, "option valueSubject goes with valueFormat avro"),
    ],
)
def test_what_names_no_schema_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as found:
        wanted_of(given)
    assert sentence in str(found.value)
