"""Associations of the sandbox's registry, by Confluent's requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.sandbox.registry.asking import INT, ask, register

PLACE = {"resourceName": "orders", "resourceNamespace": "lkc-1", "resourceId": "id-1", "resourceType": "topic"}
BOTH: list[dict[str, Any]] = [
    {"subject": "k", "associationType": "key", "lifecycle": "WEAK", "frozen": True},
    {"subject": "v"},
]


@pytest.fixture
def url() -> Iterator[str]:
    with SandboxThread(registry=True) as sandbox:
        yield sandbox.registry_url


def create(url: str, rows: list[Any], **more: object) -> tuple[int, Any]:
    for row in rows:
        register(url, row["subject"], INT)
    return ask(url, "POST", "/associations", {**PLACE, **more, "associations": rows})


def subjects(url: str, path: str) -> list[str]:
    status, rows = ask(url, "GET", f"/associations/{path}")
    assert status == 200, rows
    return [row["subject"] for row in rows]


def test_a_topic_has_a_subject_for_keys_and_one_for_values(url: str) -> None:
    status, made = create(url, BOTH)
    assert status == 200
    assert made == {
        **PLACE,
        "associations": [BOTH[0], {"subject": "v", "associationType": "value", "lifecycle": "STRONG", "frozen": False}],
    }
    status, (row,) = ask(url, "GET", "/associations/resources/lkc-1/orders?associationType=key")
    assert (status, row) == (200, {**PLACE, **BOTH[0]})
    assert subjects(url, "resources/-/orders") == subjects(url, "resources/id-1") == ["k", "v"]
    assert subjects(url, "resources/-/orders?associationType=key&associationType=value&offset=1") == ["v"]
    assert subjects(url, "resources/-/orders?lifecycle=STRONG") == subjects(url, "subjects/v") == ["v"]
    for nothing in (
        "resources/lkc-2/orders",
        "resources/-/other",
        "resources/-/orders?resourceType=group",
        "subjects/x",
    ):
        assert subjects(url, nothing) == []


def test_one_part_or_all_of_them_are_deleted(url: str) -> None:
    create(url, BOTH)
    assert ask(url, "DELETE", "/associations/resources/id-1?associationType=key&cascadeLifecycle=False") == (204, "")
    assert subjects(url, "resources/-/orders") == ["v"]
    assert ask(url, "DELETE", "/associations/resources/id-1?cascadeLifecycle=true")[0] == 422
    assert ask(url, "DELETE", "/associations/resources/id-1") == (204, "")
    assert subjects(url, "resources/-/orders") == []
    assert ask(url, "DELETE", "/associations/resources/id-1")[0] == 404


def test_a_context_is_that_of_the_address(url: str) -> None:
    register(url, ":.staging:v", INT)
    status, made = ask(url, "POST", "/contexts/.staging/associations", {**PLACE, "associations": [{"subject": "v"}]})
    assert (status, made["associations"][0]["subject"]) == (200, ":.staging:v")
    assert subjects(url, "subjects/:.staging:v") == [":.staging:v"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({**PLACE, "associations": [{"subject": "nothing"}]}, (404, 40401)),
        ({**PLACE, "associations": [{"subject": "v"}, {"subject": "v"}]}, (409, 40911)),
        ({**PLACE, "associations": [{"subject": "v", "associationType": "header"}]}, (422, 42212)),
        ({**PLACE, "associations": [{"subject": "v", "lifecycle": "LONG"}]}, (422, 42212)),
        ({**PLACE, "resourceId": "", "associations": []}, (422, 42212)),
        ({**PLACE, "resourceName": 7, "associations": []}, (422, 42212)),
        ({"associations": []}, (422, 42212)),
        (PLACE, (422, 42212)),
        ([], (400, 400)),
    ],
)
def test_what_is_refused(url: str, body: object, expected: tuple[int, int]) -> None:
    register(url, "v", INT)
    status, problem = ask(url, "POST", "/associations", body)
    assert (status, problem["error_code"]) == expected
    assert subjects(url, "resources/-/orders") == []


def test_a_part_has_one_subject(url: str) -> None:
    assert create(url, BOTH)[0] == 200
    status, problem = create(url, [{"subject": "w"}])
    assert (status, problem["error_code"]) == (409, 40911)
    assert subjects(url, "resources/-/orders") == ["k", "v"]


def test_associations_outlive_the_process(tmp_path: Path) -> None:
    with SandboxThread(registry=True, data=tmp_path) as sandbox:
        create(sandbox.registry_url, BOTH)
        create(sandbox.registry_url, [{"subject": "v"}], resourceName="gone", resourceId="id-2")
        ask(sandbox.registry_url, "DELETE", "/associations/resources/id-2")
    with SandboxThread(registry=True, data=tmp_path) as sandbox:
        url = sandbox.registry_url
        assert ask(url, "GET", "/associations/resources/-/orders?associationType=key")[1] == [{**PLACE, **BOTH[0]}]
        assert subjects(url, "resources/-/gone") == []
