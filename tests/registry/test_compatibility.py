"""Our verdicts about Avro schemas beside those of Apicurio's registry, which asks Avro's own Java library."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from hypothesis import HealthCheck, given, settings

from kcli.serde.avro.compatibility import incompatibilities
from kcli.serde.avro.parse import parse
from tests.effort import tries
from tests.registry.oracles import Apicurio
from tests.serde.avro.evolution import evolutions

Json = Any
ENUM_FIELD = "reader type: ENUM not compatible with writer type: RECORD"


def _call(method: str, url: str, document: Json) -> Json:
    headers = {"content-type": "application/json"}
    with urlopen(Request(url, json.dumps(document).encode(), headers, method=method), timeout=20) as answer:
        return json.load(answer)


def _verdict(url: str, writer: Json, reader: Json) -> set[str] | None:
    """Apicurio's reasons against the reader, each some words and a path; None for a schema that Java refuses, such as
    one with a union in a union."""
    try:
        return _reasons(url, writer, reader)
    except HTTPError as problem:
        problem.close()
        if problem.code != 422:
            raise
        return None


def _reasons(url: str, writer: Json, reader: Json) -> set[str]:
    subject = uuid.uuid4().hex
    _call("POST", f"{url}/subjects/{subject}/versions", {"schema": json.dumps(writer)})
    _call("PUT", f"{url}/config/{subject}", {"compatibility": "BACKWARD"})
    path = f"{url}/compatibility/subjects/{subject}/versions/latest?verbose=true"
    verdict = _call("POST", path, {"schema": json.dumps(reader)})
    if verdict["is_compatible"]:
        return set()
    _, _, causes = verdict["reason"].partition(" Causes: ")
    return set(re.findall(r"(.+? at /\S*?)(?:, |$)", causes))


def _without_enum_fields(reasons: set[str], theirs: set[str]) -> set[str]:
    """Without the field at a place where Java says that an enum does not go with a record: a new field of an enum that
    has a default symbol. kcli says there what Java says of any other field, that it has no default."""
    places = {place for reason in theirs for place in re.findall(f"{ENUM_FIELD} at (/.*)/type$", reason)}
    odd = tuple(f" at {place}{end}" for place in places for end in ("", "/type"))
    return {reason for reason in reasons if not reason.endswith(odd)} if odd else reasons


@settings(max_examples=tries(120), deadline=None, suppress_health_check=list(HealthCheck))
@given(evolutions())
def test_the_reasons_are_those_of_avros_own_library(
    apicurio: Apicurio, registry: None, pair: tuple[Json, Json]
) -> None:
    older, newer = pair
    theirs = _verdict(apicurio.url, older, newer)
    if theirs is None:
        return
    found = incompatibilities(parse(json.dumps(newer)), parse(json.dumps(older)))
    ours = {f"{reason.message} at {reason.location}" for reason in found}
    assert _without_enum_fields(ours, theirs) == _without_enum_fields(theirs, theirs)
