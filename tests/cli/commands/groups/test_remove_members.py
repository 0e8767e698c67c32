"""`kcli groups remove-members` as its user sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from tests.admin.test_members import static_members
from tests.cli.admin_fixture import Line, line

if TYPE_CHECKING:
    from kcli.sandbox.thread import SandboxThread

__all__ = ["line"]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = main(["groups", *words, "-J"])
    out, err = capsys.readouterr()
    return code, json.loads(out or "{}"), err


@pytest.mark.sandbox(topics={"orders": 2})
async def test_members_are_removed_by_id_and_by_instance_after_a_plan(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    import asyncio

    await static_members(sandbox, "a", "b", "c")
    at = ("-b", sandbox.bootstrap)

    async def ran(*words: str) -> tuple[int, Any, str]:
        return await asyncio.to_thread(run, capsys, *words, *at)

    code, plan, err = await ran("remove-members", "g", "--member", "a", "--dry-run")
    assert (code, [row["result"] for row in plan["members"]]) == (0, ["would remove"])
    assert len((await ran("members", "g"))[1]["members"]) == 3
    by_name = {row["instance_id"]: row for row in (await ran("members", "g"))[1]["members"]}
    code, done, err = await ran(
        "remove-members", "g", "--member", "a", "--member", by_name["b"]["member_id"], "--member", "x", "--execute"
    )
    assert code == 1
    assert {row["instance_id"] or row["member_id"]: row["result"] for row in done["members"]} == {
        "x": "failed",
        "a": "removed",
        "b": "removed",
    }
    assert "g: the group has no member x" in err + json.dumps(done)
    assert [row["instance_id"] for row in (await ran("members", "g"))[1]["members"]] == ["c"]
    assert (await ran("remove-members", "g", "--all", "--execute"))[0] == 0
    assert not (await ran("members", "g"))[1]["members"]
    code, _, err = await ran("remove-members", "g", "--all", "--execute")
    assert (code, "g: no members: nothing to change" in err) == (0, True)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["billing"], 2, "name members with --member MEMBER, or all of them with --all"),
        (["billing", "--all", "--member", "a"], 2, "name members with --member MEMBER, or all of them with --all"),
        (["billing", "idle", "--all"], 2, "one group at a time: billing, idle"),
        (["--all"], 2, "name at least one GROUP"),
        (["nope", "--all"], 1, "nope: this group does not exist"),
        (
            ["shared", "--all", "--execute"],
            1,
            "shared: this is a share group; Kafka removes members of classic and",
        ),
    ],
)
def test_what_cannot_be_done_is_said(line: Line, words: list[str], code: int, sentence: str) -> None:
    line.tiny.group("shared", type="share")
    ran = line("groups", "remove-members", *words)
    assert (ran.code, sentence in ran.err) == (code, True), ran.err
