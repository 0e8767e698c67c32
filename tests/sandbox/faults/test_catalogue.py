"""The names under which faults are ordered, from another process and from another thread."""

from __future__ import annotations

import pytest

from kcli import codes
from kcli.sandbox import Sandbox
from kcli.sandbox.faults import faults
from kcli.sandbox.faults.control import NAMES, NAMESPACES, rows
from kcli.sandbox.thread import SandboxThread


def test_a_name_without_its_namespace_says_which_fault_it_is() -> None:
    owners = {name: [space for space, kind in NAMESPACES.items() if hasattr(kind, name)] for name in NAMES}
    assert {name: spaces for name, spaces in owners.items() if len(spaces) != 1} == {}
    assert [row["name"] for row in rows()] == list(NAMES)
    assert all(row["text"] for row in rows())


def test_namespaces_of_the_catalogue_are_those_of_the_faults() -> None:
    of = Sandbox().faults
    assert {"": type(of), **{space: type(getattr(of, space)) for space in faults.NAMESPACES}} == NAMESPACES


def test_faults_of_a_thread_have_the_same_namespaces() -> None:
    with SandboxThread(topics={"t": 1}) as sandbox:
        sandbox.faults.wire.delay("Produce", 1.0)
        sandbox.faults.logs.corrupt("t", times=2)
        sandbox.faults.error("Fetch", codes.KAFKA_STORAGE_ERROR)
        assert sandbox.call(lambda inside: inside.faults.pending) == 4
        sandbox.faults.cluster.no_leader("t", 0)
        assert sandbox.call(lambda inside: inside.topics.partition("t", 0).leader) == -1
        sandbox.faults.clear()
        assert sandbox.call(lambda inside: inside.faults.pending) == 0
        with pytest.raises(AttributeError):
            sandbox.faults.delay("Produce", 1.0)
