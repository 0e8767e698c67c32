"""Kafka's own tools change quotas, replicas, disks and leaders of the sandbox, and read them there."""

from __future__ import annotations

import json
from pathlib import Path

from kcli.sandbox.thread import SandboxThread
from tests.kafka.admin.test_administration import ADMIN
from tests.kafka.admin.test_placement import CONFIG, MOVE, until
from tests.kafka.tools import run_tool


def theirs(sandbox: SandboxThread, tool: str, *words: str) -> str:
    """What a tool of Kafka's prints."""
    return run_tool(tool, "--bootstrap-server", sandbox.bootstrap, *words)


def test_the_sandbox_is_administered_by_kafkas_tools(tmp_path: Path) -> None:
    with SandboxThread(brokers=3, disks=2, topics={"orders": 3}) as sandbox:
        who = ("--entity-type", "users", "--entity-name", "alice", "--entity-type", "clients", "--entity-default")
        theirs(sandbox, CONFIG, "--alter", *who, "--add-config", "producer_byte_rate=2048,request_percentage=50")
        told = theirs(sandbox, CONFIG, "--describe", *who)
        assert "user-principal 'alice', the default client-id are" in told, told
        assert "producer_byte_rate=2048.0" in told
        plan = tmp_path / "plan.json"
        row = {"topic": "orders", "partition": 0, "replicas": [3, 1], "log_dirs": ["/memory/3-2", "any"]}
        plan.write_text(json.dumps({"version": 1, "partitions": [row]}))
        told = theirs(sandbox, MOVE, "--execute", "--reassignment-json-file", str(plan), "--throttle", "5000")
        assert "Successfully started partition reassignment for orders-0" in told, told
        # with the throttle a replica takes a second from disk to disk
        moved = "Reassignment of replica orders-0-3 completed successfully."
        until(lambda: moved in theirs(sandbox, MOVE, "--verify", "--reassignment-json-file", str(plan)))
        told = theirs(sandbox, MOVE, "--verify", "--reassignment-json-file", str(plan))
        assert "Reassignment of partition orders-0 is completed." in told, told
        told = theirs(
            sandbox, f"{ADMIN}LeaderElectionCommand", "--election-type", "PREFERRED", "--all-topic-partitions"
        )
        assert "Successfully completed leader election (PREFERRED) for partitions orders-0" in told, told
