"""`kcli apply`, `diff` and `export` on the sandbox: what is declared becomes true, once, and can be taken back."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.changes.declared.plan import ClusterPlan
from kcli.cli.main import main
from kcli.cli.runtime.journal import journaled
from kcli.declared.schema import SCHEMA
from kcli.errors import KcliError
from kcli.sandbox.thread import SandboxThread
from tests.changes.undone import undo_files
from tests.cli.poison import Poison, leaks, on_a_terminal, poisoned

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = """
topics:
  orders:
    partitions: 3
    replication: 1
    configs: {retention.ms: 1d, cleanup.policy: [compact, delete], segment.bytes: 64MiB}
  mail: {partitions: 2}
quotas:
- {user: alice, producer_byte_rate: 10MiB}
- {user: <default>, client-id: app, request_percentage: 50%}
"""


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    with SandboxThread(topics={"there": 2}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        monkeypatch.chdir(tmp_path)
        yield made


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.out)["changes"]
        return found

    @property
    def plan(self) -> list[Any]:
        return [tuple(row[key] for key in ("change", "name", "config", "old", "new", "result")) for row in self.rows]


class Kcli:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> Ran:
        code = main(list(words))
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def apply(self, text: str, *words: str, name: str = "f.yaml") -> Ran:
        Path(name).write_text(text)
        return self("apply", name, "-J", *words)

    def undo(self) -> str:
        """What undoes the last change, as a file."""
        return str(undo_files(Path("state"))[-1])


@pytest.fixture
def kcli(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> Kcli:
    return Kcli(capsys)


def test_what_is_declared_is_made_and_a_second_run_changes_nothing(kcli: Kcli) -> None:
    planned = kcli.apply(FILE, "--dry-run")
    assert (planned.code, {row["result"] for row in planned.rows}) == (0, {"would create"})
    assert [row["topic"] for row in json.loads(kcli("topics", "list", "-J").out)["topics"]] == ["there"]
    Path("f.yaml").write_text(FILE)
    assert kcli("diff", "f.yaml").code == 3
    done = kcli.apply(FILE, "--execute")
    assert done.code == 0, done.err
    assert ("+", "orders", "retention.ms", None, "86400000", "created") in done.plan
    assert ("+", "user alice", "producer_byte_rate", None, "10MiB/s", "created") in done.plan
    assert {row["file"] for row in done.rows if row["name"] == "mail"} == {"f.yaml:7"}
    assert "4 changes done" in done.err
    for words in (("diff", "f.yaml"), ("apply", "f.yaml", "--execute"), ("apply", "f.yaml")):
        again = kcli(*words)
        assert (again.code, again.out) == (0, "")
    assert "nothing to change" in again.err
    (orders,) = json.loads(kcli("topics", "describe", "orders", "-J").out)["topics"]
    assert orders["partitions"] == 3
    assert orders["configs"] == {
        "retention.ms": "86400000", "cleanup.policy": "compact,delete", "segment.bytes": "67108864",
    }  # fmt: skip


def test_what_equals_a_default_or_is_said_in_another_form_is_no_difference(kcli: Kcli) -> None:
    same = "topics: {there: {partitions: 2, replication: 1, configs: {retention.ms: 7d, cleanup.policy: [delete]}}}"
    done = kcli.apply(same, "--execute")
    assert (done.code, done.rows) == (0, [])
    kcli("configs", "set", "topic", "there", "cleanup.policy=delete,compact", "preallocate=true", "--execute")
    same = "topics: {there: {configs: {preallocate: True, cleanup.policy: 'compact, delete', retention.ms: 168h}}}"
    assert kcli.apply(same, "--execute").rows == []


def test_a_change_says_old_and_new_and_its_undo_file_takes_it_back(kcli: Kcli) -> None:
    kcli("configs", "set", "topic", "there", "segment.ms=5000", "retention.ms=1000", "--execute")
    before = kcli("export").out
    text = "topics: {there: {configs: {retention.ms: 2d, segment.bytes: 1MiB}, inherit: [segment.ms]}}"
    done = kcli.apply(text, "--execute", "--undo-file", "undo.json")
    assert done.plan == [
        ("~", "there", "retention.ms", "1000", "172800000", "changed"),
        ("~", "there", "segment.bytes", "1073741824", "1048576", "changed"),
        ("-", "there", "segment.ms", "5000", None, "deleted"),
    ]
    assert "to undo this: kcli undo " in done.err
    assert kcli("apply", "undo.json", "--execute").code == 0
    assert kcli("export").out == before


def test_an_undo_file_removes_what_was_made_and_only_with_prune(kcli: Kcli) -> None:
    before = kcli("export").out
    kcli.apply(FILE, "--execute")
    undo = kcli.undo()
    kept = kcli("apply", undo, "--dry-run", "-J")
    assert [row[0] for row in kept.plan] == ["-", "-"]  # the quotas: a topic is not removed without --prune
    assert "2 resources" in kept.err
    taken = kcli("apply", undo, "--prune", "--execute")
    assert taken.code == 0, taken.err
    assert kcli("export").out == before


def test_nothing_is_removed_unless_pruned_and_pruning_stays_within_the_scope(
    kcli: Kcli, sandbox: SandboxThread
) -> None:
    for name in ("orders-a", "orders-b", "_orders-c", "__orders-d", "other"):
        kcli("topics", "create", name)
    kcli("configs", "set", "topic", "orders-a", "retention.ms=5", "--execute")
    kcli("configs", "set", "topic", "other", "retention.ms=5", "--execute")
    text = "scope: {topics: ['*orders-*']}\ntopics: {orders-a: {}, other: {}}\n"
    assert kcli.apply(text, "--execute").rows == []
    pruned = kcli.apply(text, "--prune", "--execute")
    assert pruned.code == 0
    assert [(row["change"], row["name"], row["config"]) for row in pruned.rows] == [
        ("-", "orders-a", "retention.ms"),
        ("-", "orders-b", "partitions"),
        ("-", "orders-b", "records"),
    ]
    names = [row["topic"] for row in json.loads(kcli("topics", "list", "--internal", "-J").out)["topics"]]
    assert set(names) >= {"there", "orders-a", "_orders-c", "__orders-d", "other"}
    assert "orders-b" not in names
    again = kcli.apply(text, "--prune", "--execute")
    assert (again.code, again.rows) == (0, [])
    none = kcli.apply("topics: {orders-a: {}}", "--prune", "--execute")
    assert none.code == 2
    assert "--prune removes only resources within a scope" in none.err


def test_partitions_grow_and_never_shrink_and_replicas_are_not_moved(kcli: Kcli) -> None:
    grown = kcli.apply("topics: {there: {partitions: 5}}", "--execute")
    assert grown.plan == [("~", "there", "partitions", "2", "5", "changed")]
    assert "their number cannot be reduced" in grown.err
    assert "to undo this" not in grown.err
    assert not undo_files(Path("state"))
    refused = kcli.apply("topics: {there: {partitions: 3, replication: 2}, new: {}}", "--execute")
    assert refused.code == 1
    assert {row["result"] for row in refused.rows if row["name"] == "there"} == {"refused"}
    assert "f.yaml:1: there has 5 partitions, which cannot be reduced" in refused.err
    assert "kcli reassign" in refused.err
    assert "nothing was changed; --keep-going applies the other 1 change" in refused.err
    assert kcli("topics", "describe", "new", "-J").code == 1
    rest = kcli.apply("topics: {there: {partitions: 3}, new: {}}", "--execute", "--keep-going")
    assert (rest.code, [row["result"] for row in rest.rows]) == (1, ["created", "refused"])


def test_what_does_not_come_back_is_said(kcli: Kcli) -> None:
    ran = kcli.apply("absent: {topics: [there]}", "--prune", "--execute")
    assert "undo cannot restore the records of 1 topic" in ran.err
    assert "to undo this" in ran.err


def test_a_topic_whose_configs_cannot_be_read_is_not_deleted(kcli: Kcli, monkeypatch: pytest.MonkeyPatch) -> None:
    from kcli.changes.declared import configs

    async def untold(cluster: object, wanted: Any, *, whole: bool) -> dict[Any, KcliError]:
        return {at: KcliError("the broker does not say") for at in wanted}

    monkeypatch.setattr(configs, "read", untold)
    ran = kcli.apply("absent: {topics: [there]}", "--prune", "--execute")
    assert (ran.code, {row["result"] for row in ran.rows}) == (1, {"failed"})
    assert kcli("topics", "describe", "there").code == 0
    assert not undo_files(Path("state"))


def test_a_plan_of_which_nothing_can_be_done_counts_no_changes(kcli: Kcli) -> None:
    ran = kcli.apply("topics: {there: {partitions: 1}}", "--dry-run")
    assert ran.code == 1
    assert "--execute" not in ran.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "quotas: [{user: a, producer_byte_rate: 5}, {user: a, consumer_byte_rate: 6}]",
            "a quota of user a is declared",
        ),
        (
            'acls: [{principal: "User:a", allow: [cluster-action], topic: x}]',
            "cluster-action is not a valid operation for a topic",
        ),
    ],
)
def test_what_no_broker_would_take_is_told_before(kcli: Kcli, text: str, says: str) -> None:
    ran = kcli.apply(text, "--dry-run")
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_the_brokers_check_the_plan_before_anything_is_changed(kcli: Kcli) -> None:
    text = "topics: {new: {configs: {cleanup.policy: sometimes}}, other: {partitions: 1}}"
    for words in (["--dry-run"], ["--execute"]):
        ran = kcli.apply(text, *words)
        assert ran.code == 1
        assert [row["result"] for row in ran.rows] == ["failed", "would create"]
        assert "sometimes" in ran.err
    unknown = kcli.apply("topics: {there: {configs: {retenton.ms: 5}}}", "--execute")
    assert "f.yaml:1: topic there has no config retenton.ms; did you mean retention.ms" in unknown.err
    kcli.apply(text, "--execute", "--keep-going")
    assert kcli("topics", "describe", "other", "-J").code == 0


def test_what_fails_is_one_row_and_the_rest_is_done(
    kcli: Kcli, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "topics: {there: {partitions: 4, configs: {retention.ms: 1h}}, a: {}, b: {partitions: 1}}"

    async def after_the_check(*args: Any) -> Any:
        if again:
            return await journaled(*args)
        sandbox.faults.error("CreateTopics", codes.POLICY_VIOLATION, topic="a")
        sandbox.faults.wire.lose_answer("IncrementalAlterConfigs")
        return await journaled(*args)

    again: Ran | None = None
    monkeypatch.setattr("kcli.cli.runtime.journal.journaled", after_the_check)
    done = kcli.apply(text, "--execute")
    assert done.code == 1
    assert {(row["name"], row["config"]): row["result"] for row in done.rows} == {
        ("a", "partitions"): "failed", ("b", "partitions"): "created",
        ("there", "partitions"): "changed", ("there", "retention.ms"): "unknown",
    }  # fmt: skip
    assert "2 changes done, 2 failed" in done.err
    assert len(json.loads(done.out)["errors"]) == 2
    again = done
    again = kcli.apply(text, "--execute")
    assert (again.code, [(row["name"], row["result"]) for row in again.rows]) == (0, [("a", "created")])


def test_a_broker_that_does_not_answer_is_exit_code_5_and_nothing_is_done(
    kcli: Kcli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", "localhost:1")
    ran = kcli.apply(FILE, "--execute", "-X", "default.api.timeout.ms=300")
    assert (ran.code, ran.rows) == (5, [])
    assert kcli("export", "-X", "default.api.timeout.ms=300").code == 5


def test_a_read_only_profile_refuses_to_apply_and_may_diff(kcli: Kcli, sandbox: SandboxThread) -> None:
    Path(".kcli.toml").write_text(f'[profiles.prod]\nbootstrap = "{sandbox.bootstrap}"\nread_only = true\n')
    Path("f.yaml").write_text(FILE)
    assert kcli("diff", "f.yaml", "--profile", "prod").code == 3
    assert kcli("export", "--profile", "prod").code == 0
    refused = kcli("apply", "f.yaml", "--profile", "prod", "--execute")
    assert refused.code != 0
    assert "refused by read-only profile prod" in refused.err
    assert [row["topic"] for row in json.loads(kcli("topics", "list", "-J").out)["topics"]] == ["there"]


def test_without_execute_nothing_is_done_and_a_script_is_told(kcli: Kcli) -> None:
    ran = kcli.apply(FILE)
    assert ran.code == 0
    assert "plan only, nothing changed; add --execute" in ran.err
    assert len(ran.rows) == 8
    assert kcli.apply(FILE, "--execute", "--dry-run").code == 2
    wrong = kcli.apply("topics: {a: {partitons: 1}}", "--execute")
    assert (wrong.code, wrong.out) == (2, "")
    assert "f.yaml:1: topics: a: unknown key partitons; did you mean partitions?" in wrong.err


@pytest.mark.parametrize("format", ["yaml", "toml", "json"])
def test_an_export_applied_changes_nothing_and_makes_the_same_elsewhere(
    format: str, kcli: Kcli, monkeypatch: pytest.MonkeyPatch
) -> None:
    kcli.apply(FILE, "--execute")
    made = kcli("export", "--format", format)
    assert made.code == 0
    assert "there" in made.out
    Path(f"x.{format}").write_text(made.out)
    again = kcli("apply", f"x.{format}", "--execute")
    assert (again.code, again.out) == (0, "")
    with SandboxThread() as other:
        monkeypatch.setenv("KCLI_BOOTSTRAP", other.bootstrap)
        assert kcli("apply", f"x.{format}", "--execute", "-q").code == 0
        assert kcli("export", "--format", format).out == made.out


def test_an_export_without_the_configs_of_a_broker_that_is_down_is_not_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with SandboxThread(brokers=3) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        line = Kcli(capsys)
        assert line("configs", "set", "broker", "3", "log.cleaner.threads=2", "--execute", "--no-undo").code == 0
        assert line("export").code == 0
        made.call(lambda box: box.faults.cluster.stop_broker(3, elect=True))
        ran = line("export")
        assert ran.code == 1
        assert "broker 3" in ran.err
        assert line("export", "--match", "broker/1").code == 0


def test_an_export_is_of_some_sections_and_names_only(kcli: Kcli) -> None:
    kcli.apply(FILE, "--execute")
    some = json.loads(kcli("export", "--only", "topics", "o*", "--format", "json").out)
    assert list(some) == ["schema", "topics"]
    assert list(some["topics"]) == ["orders"]
    wrong = kcli("export", "--only", "topic")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--only topic: unknown section; did you mean topics" in wrong.err
    some = json.loads(kcli("export", "user alice", "--format", "json").out)
    assert list(some) == ["schema", "quotas"]
    old = kcli("export", "--match", "user alice", "--format", "json")
    assert json.loads(old.out) == some
    assert old.err == "kcli: --match was replaced by an argument: kcli export 'user alice'\n"
    assert kcli("export", "--literal", "o*").err.startswith("kcli: o*: no resource matches")


def test_an_export_by_pattern_finds_something_or_says_so(kcli: Kcli) -> None:
    kcli.apply(FILE, "--execute")
    for pattern in ("^or", "^ord.rs$", "o*", "orders"):
        some = json.loads(kcli("export", "--only", "topics", pattern, "--format", "json").out)
        assert list(some["topics"]) == ["orders"]
    none = kcli("export", "^cu")
    assert (none.code, none.out) == (1, "")
    assert none.err == "kcli: ^cu: no resource matches; write a name, a glob such as 'orders-*', or '^RE'\n"
    part = kcli("export", "cu*", "orders", "--format", "json")
    assert (part.code, list(json.loads(part.out)["topics"])) == (0, ["orders"])
    assert part.err == "kcli: cu*: no resource matches; write a name, a glob such as 'orders-*', or '^RE'\n"
    assert kcli("export", "cu*", "orders", "-q").err == ""
    both = kcli("export", "cu*", "ca*")
    assert (both.code, both.out) == (1, "")
    assert [line.split(": ")[1] for line in both.err.splitlines()] == ["cu*", "ca*"]
    wrong = kcli("export", "^(cu")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("kcli: ^(cu: not a valid pattern: missing ), unterminated subpattern at column 2")


GUARDED = """
users:
  alice:
    SCRAM-SHA-512: {iterations: 4096, password: {env: ALICE_PASSWORD}}
    SCRAM-SHA-256: {password: {env: ALICE_PASSWORD}}
acls:
- {principal: User:alice, allow: [read, describe], topic: [orders, mail]}
- {principal: User:alice, allow: read, group: app-, pattern: prefixed}
- {principal: User:bob, deny: all, cluster: true, host: 10.0.0.1}
"""


def test_users_and_ACLs_are_made_compared_and_taken_back(
    kcli: Kcli, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = kcli.apply(GUARDED, "--execute")
    assert missing.code == 1
    assert "f.yaml:4: alice: password: environment variable ALICE_PASSWORD" in missing.err
    assert json.loads(kcli("acls", "list", "-J").out)["acls"] == []
    monkeypatch.setenv("ALICE_PASSWORD", "hunter2")
    done = kcli.apply(GUARDED, "--execute", "--undo-file", "undo.json")
    assert done.code == 0, done.err
    assert {(row["change"], row["kind"], row["name"], row["config"], row["new"]) for row in done.rows} == {
        ("+", "user", "alice", "SCRAM-SHA-512", "4096 iterations"),
        ("+", "user", "alice", "SCRAM-SHA-256", "8192 iterations"),
        ("+", "acl", "User:alice", "allow read topic orders", None),
        ("+", "acl", "User:alice", "allow describe topic orders", None),
        ("+", "acl", "User:alice", "allow read topic mail", None),
        ("+", "acl", "User:alice", "allow describe topic mail", None),
        ("+", "acl", "User:alice", "allow read group prefix app-", None),
        ("+", "acl", "User:bob", "deny all cluster from 10.0.0.1", None),
    }
    assert "hunter2" not in done.out + done.err + Path("undo.json").read_text()
    assert kcli("diff", "f.yaml").code == 0
    exported = kcli("export")
    assert "hunter2" not in exported.out
    Path("x.yaml").write_text(exported.out)
    assert kcli("apply", "x.yaml", "--execute").out == ""
    again = kcli("apply", "f.yaml", "--execute", "--secrets", "-J")
    assert {row["new"] for row in again.rows} == {
        "4096 iterations, the password again", "8192 iterations, the password again",
    }  # fmt: skip
    more = kcli.apply(GUARDED.replace("4096", "8192"), "--execute", "--undo-file", "undo2.json")
    assert [(row["old"], row["new"]) for row in more.rows] == [("4096 iterations", "8192 iterations")]
    assert kcli("apply", "undo2.json", "--execute").code == 0
    assert kcli("export").out == exported.out
    assert kcli("apply", "undo.json", "--prune", "--execute").code == 0
    assert json.loads(kcli("acls", "list", "-J").out)["acls"] == []
    assert json.loads(kcli("export", "--format", "json").out).keys() == {"schema", "topics", "configs"}


def test_users_and_ACLs_out_of_the_scope_are_left_when_pruning(kcli: Kcli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALICE_PASSWORD", "hunter2")
    more = GUARDED + "- {principal: User:other, allow: all, topic: '*'}\n"
    assert kcli.apply(more, "--execute").code == 0
    scope = "scope: {users: [a*], acls: ['User:a*', User:other]}\n"
    pruned = kcli.apply(scope, "--prune", "--execute", "--undo-file", "undo.json")
    assert pruned.code == 0, pruned.err
    assert {row["change"] for row in pruned.rows} == {"-"}
    assert [row["principal"] for row in json.loads(kcli("acls", "list", "-J").out)["acls"]] == ["User:bob"]
    assert [row["kind"] for row in pruned.rows] == ["acl"] * 6 + ["user"] * 2
    assert kcli("apply", "undo.json", "--execute").code == 0
    assert kcli.apply(more, "--execute").rows == []


def test_a_user_without_a_password_can_be_compared_and_not_made(kcli: Kcli) -> None:
    ran = kcli.apply("users: {bob: {SCRAM-SHA-512: {iterations: 4096}}}", "--execute")
    assert (ran.code, [row["result"] for row in ran.rows]) == (1, ["refused"])
    assert "f.yaml:1: bob needs a password for SCRAM-SHA-512: password: {env: BOB_PASSWORD}" in ran.err


def test_configs_of_groups_are_exported_and_pruned_where_brokers_list_them(kcli: Kcli, sandbox: SandboxThread) -> None:
    text = "configs: {group: {app: {share.auto.offset.reset: earliest, share.record.lock.duration.ms: 20s}}}"
    assert kcli.apply(text, "--execute").code == 0
    exported = kcli("export", "--only", "configs", "--format", "json")
    assert json.loads(exported.out)["configs"] == {
        "broker": {"default": {"min.insync.replicas": "1"}},  # formatting the disks sets it
        "group": {"app": {"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "20000"}},
    }
    assert exported.err == ""
    sandbox.faults.wire.speak_only("ListConfigResources", 0, 0)
    older = kcli("export", "--only", "configs", "--format", "json")
    assert (older.code, json.loads(older.out)["configs"].keys()) == (0, {"broker"})
    assert older.err.startswith("kcli: without configs of groups: brokers before Kafka 4.1")
    assert older.err.count("\n") == 1
    sandbox.faults.clear()
    pruned = kcli.apply("scope: {configs: [group/*]}", "--prune", "--execute")
    assert [(row["change"], row["config"], row["old"], row["result"]) for row in pruned.rows] == [
        ("-", "share.auto.offset.reset", "earliest", "deleted"),
        ("-", "share.record.lock.duration.ms", "20000", "deleted"),
    ]
    assert kcli("export", "--only", "configs", "--format", "json").out == older.out


@pytest.mark.parametrize("error", [0, 29, -1])
@pytest.mark.parametrize("words", [["apply"], ["apply", "--dry-run"], ["diff"], ["diff", "--prune"], ["export"]])
def test_nothing_of_a_hostile_cluster_acts_on_a_terminal(words: list[str], error: int, sandbox: SandboxThread) -> None:
    scope = "scope: {topics: ['*'], users: ['*'], acls: ['*'], quotas: ['*'], configs: ['*']}\n"
    Path("f.yaml").write_text(scope + FILE + GUARDED + "configs: {group: {app: {share.auto.offset.reset: earliest}}}\n")
    words = [*words, *(["f.yaml"] if words != ["export"] else []), "-X", "default.api.timeout.ms=300"]
    with poisoned(Poison(error=error) if error else Poison()):
        code, text = on_a_terminal(*words, bootstrap=sandbox.bootstrap)
    assert not leaks(text)
    assert code in (0, 1, 2, 3, 4, 5), text
    assert "Traceback" not in text


def test_a_run_ends_when_the_brokers_tell_what_was_done(kcli: Kcli, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[ClusterPlan] = []
    compare = ClusterPlan.compare

    async def late(plan: ClusterPlan) -> None:
        """The second and third comparison see what was before."""
        looks.append(plan)
        await compare(plan)
        if len(looks) in (2, 3):
            plan.steps = list(looks[0].steps)

    monkeypatch.setattr(ClusterPlan, "compare", late)
    text = "topics: {there: {configs: {retention.ms: 1h}}}"
    done = kcli.apply(text, "--execute")
    assert (done.code, len(looks)) == (0, 4)
    assert "some brokers have not received the change" not in done.err
    looks.clear()
    done = kcli.apply(text.replace("1h", "2h"), "--execute", "--no-wait")
    assert (done.code, len(looks)) == (0, 1)
    looks.clear()
    monkeypatch.setattr(ClusterPlan.settled, "__defaults__", (0.0,))
    done = kcli.apply(text.replace("1h", "3h"), "--execute")
    assert (done.code, len(looks)) == (0, 2)
    assert "some brokers have not received the change yet: there retention.ms" in done.err


def test_stdin_is_a_file_too(kcli: Kcli, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch) -> None:
    def piped(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    piped("topics: {new: {partitions: 1}}")
    assert kcli("apply", "-", "--execute").code == 0
    piped("\ntopics: {new: {partitons: 1}}")
    assert kcli("diff", "-").err.startswith("kcli: stdin:2: topics: new: unknown key partitons")
    piped(kcli("export").out)
    assert kcli("diff", "-").code == 0


def test_a_person_types_what_is_to_be_done(kcli: Kcli, sandbox: SandboxThread) -> None:
    Path("f.yaml").write_text("topics: {new: {partitions: 1}}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO("apply 1 change\n"))
        patch.setattr("sys.stdin.isatty", lambda: True)
        patch.setattr("sys.stderr.isatty", lambda: True)
        wrong = kcli("apply", "f.yaml")
        assert (wrong.code, "nothing was changed" in wrong.err) == (1, True)
        assert "Apply the plan? [y/N] " in wrong.err
        patch.setattr("sys.stdin", io.StringIO("y\n"))
        patch.setattr("sys.stdin.isatty", lambda: True)
        assert kcli("apply", "f.yaml").code == 0
    assert kcli("diff", "f.yaml").code == 0


def test_the_schema_of_a_file_is_published(kcli: Kcli) -> None:
    assert json.loads(kcli("schema", "apply", "file").out) == SCHEMA
    assert "apply file" in kcli("schema").out
