"""`kcli registry delete` where a registry does not answer a question of the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.registry.commands import Commands
from tests.registry.scripted import Asked, Scripted, Step, answer, raw, refusal

HTML = raw(b"<html>not here</html>", 404)
SOFT_DELETED = "the subject is soft-deleted"


def plan(folder: Path, *words: str, versions: Step, references: Step, code: int) -> tuple[list[str], str]:
    """The results of the rows, and stderr. `versions` answers what versions are not soft-deleted."""

    def route(asked: Asked) -> Step:
        path, _, query = asked.path.partition("?")
        if path.endswith("/referencedby"):
            return references
        return versions if path.endswith("/versions") and "deleted=true" not in query else answer([1])

    with Scripted(answer([1])) as server:
        server.route = route
        commands = Commands(server.url, folder)
        rows = commands.rows("delete", "a", *words, code=code)
        return [row["result"] for row in rows], commands.run("delete", "a", *words, code=code).err


@pytest.mark.parametrize("code", [40401, 40402, 40404, 40406])
def test_what_is_soft_deleted_may_be_deleted_for_good(code: int, tmp_path: Path) -> None:
    gone = refusal(404, code)
    results, said = plan(tmp_path, "--permanent", versions=gone, references=gone, code=0)
    assert results == ["would delete"]
    assert "plan only" in said
    assert SOFT_DELETED not in said


@pytest.mark.parametrize(
    ("question", "refused", "code", "says"),
    [
        ("versions", refusal(403, 40301), 5, "does not allow it"),
        ("versions", refusal(500, 50001), 5, "the registry's store failed"),
        ("versions", HTML, 1, "does not support this request (HTTP 404)"),
        ("versions", raw(b"{}"), 1, "unexpected response"),
        ("references", refusal(403, 40301), 5, "does not allow it"),
        ("references", refusal(500, 50001), 5, "the registry's store failed"),
    ],
)
def test_a_registry_that_refuses_a_question_is_quoted(
    question: str, refused: bytes, code: int, says: str, tmp_path: Path
) -> None:
    said: dict[str, Step] = {"versions": refusal(404, 40401), "references": answer([]), question: refused}
    results, err = plan(tmp_path, "--permanent", versions=said["versions"], references=said["references"], code=code)
    assert results == []
    assert says in err


def test_a_registry_without_references_is_said_to_have_none(tmp_path: Path) -> None:
    results, err = plan(tmp_path, versions=answer([1]), references=HTML, code=0)
    assert results == ["would delete"]
    assert "a version 1: the registry does not list the schemas that refer to it" in err


def test_a_version_that_vanished_is_no_version_to_delete(tmp_path: Path) -> None:
    results, err = plan(tmp_path, versions=answer([1]), references=refusal(404, 40402), code=1)
    assert results == []
    assert "the subject has no such version (40402)" in err
