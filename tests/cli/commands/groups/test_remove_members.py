"""`kcli groups remove-members` as its user sees it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.changes.groups import one_member
from kcli.cli.main import main
from kcli.errors import UsageError
from tests.admin.test_members import static_members
from tests.cli.admin_fixture import Line, line
from tests.cli.runtime.test_change import Terminal

if TYPE_CHECKING:
    from kcli.sandbox.thread import SandboxThread

__all__ = ["line"]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = main(["groups", *words, "-J"])
    out, err = capsys.readouterr()
    return code, json.loads(out or "{}"), err


@pytest.mark.kcli_sandbox(topics={"orders": 2})
async def test_members_are_removed_by_id_and_by_instance_after_a_plan(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
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


@pytest.mark.kcli_sandbox(topics={"orders": 2})
async def test_a_member_is_named_by_a_prefix_or_its_row_and_never_guessed(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    await static_members(sandbox, "a", "b", "c")

    async def ran(*words: str) -> tuple[int, Any, str]:
        return await asyncio.to_thread(run, capsys, *words, "-b", sandbox.bootstrap)

    there = [row["member_id"] for row in (await ran("members", "g"))[1]["members"]]
    client = (await ran("members", "g"))[1]["members"][0]["client_id"]
    code, _, err = await ran("remove-members", "g", "--member", client, "--execute")
    assert code == 2
    assert f"g: {client} matches 3 members ({', '.join(there)}): choose one" in err
    code, done, _ = await ran("remove-members", "g", "--member", "2", "--member", there[0][:-4], "--execute")
    assert (code, {row["member_id"] for row in done["members"]}) == (0, set(there[:2]))
    code, done, _ = await ran("remove-members", "g", "--member", client, "--execute")
    assert (code, [row["member_id"] for row in done["members"]]) == (0, there[2:])


def test_an_exact_name_comes_before_a_client_id_and_that_before_a_prefix() -> None:
    def one(member_id: str, client_id: str, instance_id: str | None = None) -> Member:
        return Member(member_id=member_id, client_id=client_id, instance_id=instance_id)

    first, second, third = one("app-1", "app"), one("app-2-7", "app-2", "app"), one("1xyz", "2")
    group = Described(group="g", members=[first, second, third])
    assert one_member(group, "app") is second
    assert one_member(group, "app-2") is second
    assert one_member(group, "2") is third  # its client id, not the second row
    assert one_member(group, "3") is third
    assert one_member(group, "4") is None
    assert one_member(group, "1x") is third
    with pytest.raises(UsageError, match=r"g: 1 matches 2 members \(app-1, 1xyz\): choose one"):
        one_member(group, "1")


@pytest.mark.kcli_sandbox(topics={"orders": 2})
def test_one_member_is_confirmed_by_a_short_name(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(static_members(sandbox, "w-7"))
    monkeypatch.setattr("sys.stdin", Terminal("w-7\n"))
    monkeypatch.setattr("sys.stderr", asked := Terminal())
    assert main(["groups", "remove-members", "g", "--all", "-b", sandbox.bootstrap]) == 0
    assert "Type 'w-7' to apply the plan: " in asked.getvalue()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["billing"], 2, "choose members with --member MEMBER, or all of them with --all"),
        (["billing", "--all", "--member", "a"], 2, "choose members with --member MEMBER, or all of them with --all"),
        (["billing", "idle", "--all"], 2, "give only one group, not billing, idle"),
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
