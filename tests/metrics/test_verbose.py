"""`-v` at the end of produce and consume: what the client counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.programs import kcli as run

pytestmark = pytest.mark.process


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread() as sandbox:
        assert run("topics", "create", "t", "-b", sandbox.bootstrap).code == 0
        yield sandbox


def test_both_ends_say_it_with_v_and_not_without(sandbox: SandboxThread) -> None:
    quiet = run("produce", "t", "-b", sandbox.bootstrap, stdin=b"a\nb\n")
    assert (quiet.code, quiet.err) == (0, "")
    sandbox.faults.wire.lose_answer("Produce")
    told = run("produce", "t", "-v", "-z", "gzip", "-b", sandbox.bootstrap, stdin=b"abcd" * 1000 + b"\n")
    assert told.code == 0
    assert "1 batch acknowledged: mean " in told.err
    assert "compressed " in told.err
    assert "1 batch sent again, 0 split, 0 failed" in told.err
    assert "kcli: Produce: 2 requests, " in told.err
    assert ", 1 without a response\n" in told.err
    assert "connections opened, 1 lost\n" in told.err

    quiet = run("consume", "t", "-e", "-b", sandbox.bootstrap)
    assert quiet.err == ""
    told = run("consume", "t", "-e", "-v", "-b", sandbox.bootstrap)
    assert "2 batches read, 0 B not used" in told.err
    assert "kcli: Fetch: " in told.err
    member = run("consume", "t", "-g", "g", "-e", "-v", "-b", sandbox.bootstrap)
    assert "partitions assigned 1, revoked 0, lost 0" in member.err
    assert member.out == quiet.out
    shared = run("consume", "t", "--share-group", "s", "--from-beginning", "-e", "-v", "-b", sandbox.bootstrap)
    assert shared.out == quiet.out
    assert "2 batches read, 0 B not used" in shared.err
    assert "kcli: ShareFetch: " in shared.err
