"""`registry list` of many subjects: a request a page, none a subject, and the sandbox looks for them once a list."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kcli.sandbox.registry.rest import schema_answers, server
from kcli.sandbox.thread import SandboxThread
from tests.registry.commands import Commands
from tests.sandbox.registry.asking import INT, ask, register

COUNT = 12_000  # three pages
TEXT = '{"type":"record","name":"R%d","fields":[]}'

PLAIN = {"deleted": False, "kind": "AVRO", "references": [], "metadata": "", "rule_set": ""}


@pytest.mark.slow
def test_a_list_takes_a_request_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests, searches = Counter[str](), Counter[str]()
    route, search = server.find, schema_answers._found

    def counted(method: str, parts: Any, asked: Any) -> Any:
        requests["/".join(parts)] += 1
        return route(method, parts, asked)

    def searched(*words: Any, **more: Any) -> Any:
        searches["all"] += 1
        return search(*words, **more)

    monkeypatch.setattr(server, "find", counted)
    monkeypatch.setattr(schema_answers, "_found", searched)
    with SandboxThread(registry=True) as sandbox:
        store = sandbox._sandbox.cluster.registry.store  # type: ignore[union-attr]
        for number in range(COUNT):
            facts = {"subject": f"topic-{number:05}-value", "version": 1, "id": number + 1, "text": TEXT % number}
            store.restore({**PLAIN, **facts})
        rows = Commands(sandbox.registry_url, tmp_path).rows("list")
        assert [row["subject"] for row in rows] == [f"topic-{number:05}-value" for number in range(COUNT)]
        assert [row["id"] for row in rows] == list(range(1, COUNT + 1))
        assert requests == {"subjects": 3, "schemas": 3}
        assert searches.total() == 1


def test_a_list_shows_what_changed_since_the_last_one() -> None:
    with SandboxThread(registry=True) as sandbox:
        url = sandbox.registry_url
        assert ask(url, "GET", "/subjects") == (200, [])
        for name in ("a", "b"):
            register(url, name, INT)
        assert ask(url, "GET", "/subjects?offset=0&limit=1") == (200, ["a"])
        register(url, "aa", INT)
        assert ask(url, "GET", "/subjects?offset=1&limit=1") == (200, ["aa"])
        ask(url, "DELETE", "/subjects/a")
        assert ask(url, "GET", "/subjects") == (200, ["aa", "b"])
        assert ask(url, "GET", "/subjects?deleted=true") == (200, ["a", "aa", "b"])
        ask(url, "DELETE", "/subjects/a?permanent=true")
        assert ask(url, "GET", "/subjects?deleted=true") == (200, ["aa", "b"])
        assert [row["subject"] for row in ask(url, "GET", "/schemas?latestOnly=true")[1]] == ["aa", "b"]
        assert json.dumps(ask(url, "GET", "/subjects?deletedOnly=true")[1]) == "[]"
