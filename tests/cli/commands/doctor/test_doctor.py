"""`kcli doctor`: each fault that can stand between a user and a cluster is named, with the sentence that mends it."""

from __future__ import annotations

import contextlib
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli import codes
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import render
from kcli.proto.messages.describe_cluster import DescribeClusterResponse
from kcli.proto.messages.describe_configs import DescribeConfigsResponse, DescribeConfigsResult
from kcli.proto.messages.describe_groups import DescribedGroup, DescribeGroupsResponse
from kcli.proto.messages.find_coordinator import FindCoordinatorResponse
from kcli.proto.messages.metadata import MetadataResponse, MetadataResponseBroker, MetadataResponseTopic
from kcli.sandbox.access.tls import ServerTls, make_certificates
from kcli.sandbox.thread import SandboxThread
from tests.certificates import Authority
from tests.cli.conftest import Shell
from tests.cli.shapes import shape
from tests.cli.test_wrong_peers import hang_up, keep_silent, peer, speak_http
from tests.fakes.speaking import MODERN, speaking
from tests.ports import free_port

Rows = list[dict[str, Any]]
SOON = ("--timeout-ms", "400")
GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("KCLI_PROFILE", "KCLI_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def examine(address: str, *words: str) -> tuple[int, Rows, str]:
    """Exit code, the steps, and stderr."""
    done = Shell(address)("doctor", "-b", address, "-J", *words)
    document = json.loads(done.stdout)
    steps: Rows = document["steps"]
    failed = [step for step in steps if step["status"] == "failed"]
    assert document["ok"] == (not failed)
    assert [error["error"] for error in document["errors"]] == [step["fault"] for step in failed]
    assert all(step["fix"] for step in failed if step["fault"] != "config"), "what is wrong can be mended"
    return done.returncode, steps, done.stderr.decode()


def failure(steps: Rows) -> dict[str, Any]:
    """The one step that failed; what is behind it was not tried."""
    (failed,) = [step for step in steps if step["status"] == "failed"]
    return failed


def properties(**given: str) -> list[str]:
    return [word for name, value in given.items() for word in ("-X", f"{name.replace('_', '.')}={value}")]


# -- all is well -------------------------------------------------------------------------------------------------------


def test_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    with SandboxThread(topics={"orders": 3}) as sandbox:
        code, steps, err = examine(sandbox.bootstrap, "-t", "orders", "-g", "g")
    assert (code, err) == (0, "")
    names = ["config", "DNS", "TCP", "ApiVersions", "metadata", "advertised", "rights", "rights", "rights", "rights"]
    assert [step["step"] for step in steps] == names
    assert all(step["status"] == "ok" and step["time_ms"] >= 0 and step["fault"] is None for step in steps)


def test_the_table_of_a_cluster_is_as_it_was() -> None:
    """Golden: times, ports and the cluster's id are made equal, nothing else."""
    with SandboxThread(topics={"orders": 3}, brokers=2) as sandbox:
        first, second = sandbox.bootstrap.split(",")
        _, steps, err = examine(f"{first},no-such-host.invalid:9092", "-t", "orders", "-t", "absent")
    document = Document(shape=shape("doctor"))
    for step in steps:
        cluster = r"cluster \S+," if step["step"] == "metadata" else "$."
        for name in ("address", "result"):
            text = (step[name] or "").replace(first, "127.0.0.1:19091").replace(second, "127.0.0.1:19092")
            step[name] = re.sub(r"\d+ APIs", "N APIs", re.sub(cluster, "cluster ID,", text)) or None
        step["time_ms"] = None if step["time_ms"] is None else 1.5
    document.rows["steps"] = steps
    text = render(document, "table") + "\n" + err
    assert text == (GOLDEN / "doctor.table").read_text()


# -- addresses ---------------------------------------------------------------------------------------------------------


def test_C1_a_name_that_does_not_resolve() -> None:
    code, steps, err = examine("no-such-host.invalid:9092")
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "DNS", "name")
    assert "getent hosts no-such-host.invalid" in failed["fix"]
    assert [step["status"] for step in steps[2:]] == ["skipped", "skipped"]
    assert err.startswith("kcli: no-such-host.invalid:9092: no-such-host.invalid does not resolve")


def test_C1_nothing_listens_there() -> None:
    port = free_port()
    code, steps, _ = examine(f"127.0.0.1:{port}")
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "TCP", "refused")
    assert failed["result"] == "127.0.0.1: connection refused: nothing listens there"


def test_B22_a_dead_address() -> None:
    """A listener whose queue is full takes no more: packets get lost, as behind a firewall."""
    with socket.socket() as listening, contextlib.ExitStack() as full:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        for _ in range(4):
            waiting = full.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        code, steps, _ = examine(f"127.0.0.1:{port}", *SOON)
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"], failed["result"]) == (5, "TCP", "dead", "127.0.0.1: no answer")
    assert "firewall" in failed["fix"]


def test_one_of_several_bootstrap_addresses_is_enough_to_go_on_and_is_told() -> None:
    with SandboxThread() as sandbox:
        code, steps, _ = examine(f"{sandbox.bootstrap},no-such-host.invalid:9092")
    assert code == 5
    assert failure(steps)["address"] == "no-such-host.invalid:9092"
    assert steps[-1]["step"] == "rights"


# -- strange peers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_B1_a_web_server(protocol: str) -> None:
    with peer(speak_http) as address:
        code, steps, _ = examine(address, *properties(security_protocol=protocol))
    assert (code, failure(steps)["fault"]) == (5, "http")
    assert failure(steps)["result"] == "this port uses HTTP, not Kafka"


def test_B1_a_port_that_speaks_TLS(tmp_path: Path) -> None:
    with SandboxThread(tls=make_certificates(tmp_path)) as sandbox:
        code, steps, _ = examine(sandbox.bootstrap)
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "ApiVersions", "tls-wanted")
    assert failed["fix"].startswith("set security.protocol=SSL")


def test_B20_a_port_that_speaks_plaintext() -> None:
    with SandboxThread() as sandbox:
        code, steps, _ = examine(sandbox.bootstrap, *properties(security_protocol="SSL"))
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "TLS", "plaintext")


def test_B22_a_port_that_accepts_and_never_answers() -> None:
    with peer(keep_silent) as address:
        code, steps, _ = examine(address, *SOON)
    assert (code, failure(steps)["step"], failure(steps)["fault"]) == (5, "ApiVersions", "silent")


def test_B1_a_port_that_hangs_up() -> None:
    with peer(hang_up) as address:
        code, steps, _ = examine(address, *SOON)
    assert (code, failure(steps)["step"], failure(steps)["fault"]) == (5, "ApiVersions", "closed")


# -- brokers too old ---------------------------------------------------------------------------------------------------


def test_B12_a_broker_that_lacks_what_we_speak_is_too_old() -> None:
    with speaking(ranges={**MODERN, 1: (0, 3)}) as address:
        code, steps, _ = examine(address)
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (1, "ApiVersions", "too-old")
    assert "Fetch" in failed["result"]


def test_B9_a_broker_that_does_not_know_ApiVersions_is_too_old() -> None:
    with speaking({"ApiVersions": lambda _: None, "Metadata": lambda _: MetadataResponse()}) as address:
        code, steps, _ = examine(address, *SOON)
    assert (code, failure(steps)["fault"]) == (1, "too-old")
    assert "older than Kafka 0.10" in failure(steps)["result"]


# -- the wrong broker --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "message", "status", "said"),
    [
        (0, None, "ok", "DNS, TCP, ApiVersions, identity"),
        (42, "Unexpected broker id, expected 3, but received 1", "failed", "broker 3 responds there, not broker 1"),
        (42, None, "failed", "another broker responds there, not broker 1"),
        (
            31,
            None,
            "ok",
            "kcli cannot tell which broker responds there: not authorized: DESCRIBE_CONFIGS on the cluster",
        ),
    ],
)
def test_a_broker_before_kafka_4_4_describes_no_configs_but_its_own(
    code: int, message: str | None, status: str, said: str
) -> None:
    described = DescribeConfigsResponse(
        results=[DescribeConfigsResult(error_code=code, error_message=message, resource_type=4, resource_name="1")]
    )
    answers = {"DescribeConfigs": lambda _: described, "DescribeCluster": lambda _: DescribeClusterResponse()}
    with speaking(answers, {**MODERN, 32: (1, 4)}) as address:
        exit_code, steps, _ = examine(address)
    (advertised,) = [step for step in steps if step["step"] == "advertised"]
    assert (advertised["status"], exit_code) == (status, 5 if status == "failed" else 0)
    assert said in advertised["result"]


def test_a_broker_of_another_cluster_is_the_wrong_one() -> None:
    """The address that the cluster advertises belongs to another cluster now, whose broker has the same id."""
    with speaking({"Metadata": lambda _: MetadataResponse(cluster_id="other")}) as elsewhere:
        host, port = elsewhere.split(":")
        named = [MetadataResponseBroker(node_id=1, host=host, port=int(port))]
        ours = MetadataResponse(cluster_id="ours", brokers=named)
        with speaking({"Metadata": lambda _: ours, "DescribeCluster": lambda _: DescribeClusterResponse()}) as address:
            code, steps, _ = examine(address)
    assert (code, failure(steps)["fault"]) == (5, "wrong-broker")
    assert "a broker of cluster other responds there, not of ours" in failure(steps)["result"]


# -- TLS ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@contextlib.contextmanager
def secured(authority: Authority, name: str, **given: Any) -> Iterator[str]:
    """A sandbox with a certificate; reached as localhost."""
    client_ca = given.pop("client_ca", "")
    issued = authority.issue(name, **given)
    with SandboxThread(tls=ServerTls(certificate=str(issued.both), client_ca=client_ca)) as sandbox:
        yield sandbox.bootstrap.replace("127.0.0.1", "localhost")


def trusting(authority: Authority, **given: str) -> list[str]:
    return properties(security_protocol="SSL", ssl_ca_location=str(authority.path), **given)


def test_B20_a_certificate_that_is_right_is_shown(authority: Authority) -> None:
    with secured(authority, "right") as address:
        code, steps, err = examine(address, *trusting(authority))
    tls = next(step for step in steps if step["step"] == "TLS")
    assert (code, err, tls["status"]) == (0, "", "ok")
    assert re.fullmatch(r"TLSv1\.3, certificate of localhost, 127\.0\.0\.1, until \d{4}-\d\d-\d\d", tls["result"])


def test_B20_an_expired_certificate(authority: Authority) -> None:
    with secured(authority, "expired", begins=-30, ends=-1) as address:
        code, steps, _ = examine(address, *trusting(authority))
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "TLS", "tls-expired")
    assert re.fullmatch(r"the certificate of localhost, 127\.0\.0\.1 expired on \d{4}-\d\d-\d\d", failed["result"])
    assert "renew" in failed["fix"]


def test_B20_a_certificate_that_is_not_valid_yet(authority: Authority) -> None:
    with secured(authority, "early", begins=5) as address:
        code, steps, _ = examine(address, *trusting(authority))
    assert (code, failure(steps)["fault"]) == (5, "tls-early")


def test_B20_a_certificate_that_expires_soon_is_a_warning(authority: Authority) -> None:
    with secured(authority, "soon", ends=3) as address:
        code, steps, err = examine(address, *trusting(authority))
    tls = next(step for step in steps if step["step"] == "TLS")
    assert (code, tls["status"], tls["fault"]) == (0, "warning", "tls-expires")
    assert "renew the broker's certificate in time" in err


def test_B20_a_certificate_for_another_name(authority: Authority) -> None:
    with secured(authority, "other", names=("kafka.internal", "*.example.com", "10.0.0.1")) as address:
        code, steps, _ = examine(address, *trusting(authority))
    failed = failure(steps)
    assert (code, failed["fault"]) == (5, "tls-name")
    assert failed["result"] == "the certificate is for kafka.internal, *.example.com, 10.0.0.1, not for localhost"
    assert "--broker-map" in failed["fix"]


def test_B20_an_authority_that_nobody_knows(authority: Authority, tmp_path: Path) -> None:
    with secured(authority, "unknown") as address:
        code, steps, _ = examine(address, *trusting(Authority(tmp_path, "another")))
    failed = failure(steps)
    assert (code, failed["fault"]) == (5, "tls-authority")
    assert "was signed by ca of the tests, which is not trusted here" in failed["result"]
    assert "ssl.ca.location" in failed["fix"]


def test_B20_a_broker_that_wants_our_certificate(authority: Authority) -> None:
    with secured(authority, "mutual", client_ca=str(authority.path)) as address:
        code, steps, _ = examine(address, *trusting(authority))
        mine = authority.issue("mine", usage="client")
        ours = trusting(authority, ssl_keystore_location=str(mine.both), ssl_keystore_type="PEM")
        right, _, _ = examine(address, *ours)
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "ApiVersions", "tls-client")
    assert right == 0


def test_an_unverified_certificate_is_told_each_time(authority: Authority) -> None:
    with secured(authority, "unverified") as address:
        code, steps, err = examine(
            address, *properties(security_protocol="SSL", enable_ssl_certificate_verification="false")
        )
    assert code == 0
    assert next(step for step in steps if step["step"] == "TLS")["result"].endswith("; it is not verified")
    assert "are not checked" in err


# -- SASL --------------------------------------------------------------------------------------------------------------


def user(mechanism: str = "SCRAM-SHA-512", name: str = "alice", **more: str) -> list[str]:
    return properties(security_protocol="SASL_PLAINTEXT", sasl_mechanism=mechanism, sasl_username=name, **more)


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("KCLI_SASL_PASSWORD", "alice-secret")
    return monkeypatch


def test_B15_who_says_who_they_are_may_go_on(password: pytest.MonkeyPatch) -> None:
    with SandboxThread(sasl={"alice": "alice-secret"}) as sandbox:
        code, steps, err = examine(sandbox.bootstrap, *user())
    assert (code, err) == (0, "")
    assert next(step for step in steps if step["step"] == "SASL")["result"] == "SCRAM-SHA-512 as alice"
    assert (
        next(step for step in steps if step["step"] == "advertised")["result"]
        == "DNS, TCP, ApiVersions, SASL, identity"
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_B19_a_wrong_password(mechanism: str, password: pytest.MonkeyPatch) -> None:
    password.setenv("KCLI_SASL_PASSWORD", "not-hers")
    with SandboxThread(sasl={"alice": "alice-secret"}) as sandbox:
        code, steps, err = examine(sandbox.bootstrap, *user(mechanism))
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "SASL", "password")
    assert "sasl.password" in failed["fix"]
    assert "not-hers" not in err + json.dumps(steps)


def test_B15_a_mechanism_that_is_not_offered_lists_those_that_are(password: pytest.MonkeyPatch) -> None:
    with SandboxThread(sasl={"alice": "alice-secret"}, mechanisms=("SCRAM-SHA-256", "SCRAM-SHA-512")) as sandbox:
        code, steps, _ = examine(sandbox.bootstrap, *user("PLAIN"))
    failed = failure(steps)
    assert (code, failed["fault"]) == (5, "mechanism")
    assert failed["result"] == "PLAIN is not offered; the broker offers SCRAM-SHA-256, SCRAM-SHA-512"


def test_B15_a_listener_that_wants_to_know_who_we_are() -> None:
    with SandboxThread(sasl={"alice": "alice-secret"}, mechanisms=("SCRAM-SHA-512",)) as sandbox:
        code, steps, _ = examine(sandbox.bootstrap)
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "metadata", "sasl-wanted")
    assert failed["result"].endswith("it offers SCRAM-SHA-512")
    assert failed["fix"].startswith("set security.protocol=SASL_PLAINTEXT")


def test_B15_a_listener_that_asks_nobody_who_they_are(password: pytest.MonkeyPatch) -> None:
    with SandboxThread() as sandbox:
        code, steps, _ = examine(sandbox.bootstrap, *user())
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"]) == (5, "SASL", "sasl-unwanted")
    assert failed["fix"].startswith("set security.protocol=PLAINTEXT")


# -- behind the bootstrap address --------------------------------------------------------------------------------------


def test_C2_an_advertised_address_that_does_not_resolve() -> None:
    with SandboxThread(advertised="kafka.invalid") as sandbox:
        port = sandbox.bootstrap.rpartition(":")[2]
        code, steps, _ = examine(f"127.0.0.1:{port}")
        mapped, good, _ = examine(f"127.0.0.1:{port}", "--broker-map", f"kafka.invalid:{port}=localhost:{port}")
    failed = failure(steps)
    assert (code, failed["step"], failed["fault"], failed["broker"]) == (5, "advertised", "name", 1)
    assert failed["address"] == f"kafka.invalid:{port}"
    assert "advertised.listeners" in failed["fix"]
    assert f"--broker-map kafka.invalid:{port}=" in failed["fix"]
    assert mapped == 0
    assert good[5]["result"].endswith(f"via localhost:{port}")


def test_C2_every_advertised_address_is_tried_and_one_that_is_dead_is_named() -> None:
    port = free_port()
    told = MetadataResponse(cluster_id="c", brokers=[MetadataResponseBroker(node_id=7, host="127.0.0.1", port=port)])
    with speaking({"Metadata": lambda _: told}) as address:
        told.brokers.append(MetadataResponseBroker(node_id=1, host="127.0.0.1", port=int(address.rpartition(":")[2])))
        code, steps, _ = examine(address)
    rows = [step for step in steps if step["step"] == "advertised"]
    assert [(row["broker"], row["status"], row["fault"]) for row in rows] == [(1, "ok", None), (7, "failed", "refused")]
    assert code == 5


def test_a_cluster_without_brokers_is_told() -> None:
    with speaking({"Metadata": lambda _: MetadataResponse(cluster_id="c")}) as address:
        code, steps, _ = examine(address)
    assert (code, failure(steps)["fault"]) == (1, "no-brokers")


def rights(bits: int, code: codes.ErrorCode = codes.NONE) -> dict[str, Any]:
    """Answers of a broker whose topic `t` may be used so."""

    def metadata(asked: Any) -> MetadataResponse:
        topics = [] if asked.topics == [] else [
            MetadataResponseTopic(name="t", error_code=code.number, topic_authorized_operations=bits)
        ]  # fmt: skip
        return MetadataResponse(
            cluster_id="c", brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=rights_port[0])],
            topics=topics,
        )  # fmt: skip

    return {
        "Metadata": metadata,
        "DescribeCluster": lambda _: DescribeClusterResponse(cluster_authorized_operations=1 << 8),
        "FindCoordinator": lambda _: FindCoordinatorResponse(error_code=codes.GROUP_AUTHORIZATION_FAILED.number),
    }


rights_port = [0]


@pytest.mark.parametrize(
    ("bits", "code", "says"),
    [
        (1 << 8, codes.NONE, "topic t: Describe"),
        (-(2**31), codes.TOPIC_AUTHORIZATION_FAILED, "TOPIC_AUTHORIZATION_FAILED"),
    ],
)
def test_a_topic_that_we_may_not_use(bits: int, code: codes.ErrorCode, says: str) -> None:
    with speaking(rights(bits, code)) as address:
        rights_port[0] = int(address.rpartition(":")[2])
        exit_code, steps, _ = examine(address, "-t", "t")
    failed = failure(steps)
    assert (exit_code, failed["step"], failed["fault"]) == (1, "rights", "not-authorized")
    assert says in failed["result"]
    assert failed["fix"].endswith("kcli acls add --allow User:ANONYMOUS --operation read --operation write --topic t")


@pytest.mark.parametrize("names", [[], ["other", "another"]])
def test_a_topic_that_the_brokers_answer_leaves_out(names: list[str]) -> None:
    answers = rights(1 << 3)
    answers["Metadata"] = lambda _: MetadataResponse(
        cluster_id="c", brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=rights_port[0])],
        topics=[MetadataResponseTopic(name=name) for name in names],
    )  # fmt: skip
    with speaking(answers) as address:
        rights_port[0] = int(address.rpartition(":")[2])
        exit_code, steps, _ = examine(address, "-t", "orders")
    assert (exit_code, steps[-1]["fault"]) == (1, "metadata")
    assert "topic orders: the broker's response does not contain it" in steps[-1]["result"]


def test_what_we_may_do_is_named_and_a_group_we_may_not_use() -> None:
    with speaking(rights(1 << 3 | 1 << 8)) as address:
        rights_port[0] = int(address.rpartition(":")[2])
        code, steps, _ = examine(address, "-t", "t", "-g", "billing")
    results = [step["result"] for step in steps if step["step"] == "rights"]
    rest = "not Write, Create, Delete, Alter, DescribeConfigs, AlterConfigs"
    assert results[:3] == [
        "cluster: Describe; not Create, Alter, ClusterAction, DescribeConfigs, AlterConfigs, IdempotentWrite",
        f"topics: 1 visible: Read, Describe; {rest}",
        f"topic t: Read, Describe; {rest}",
    ]
    assert (code, failure(steps)["fault"]) == (1, "not-authorized")
    assert failure(steps)["fix"].endswith("--operation read --group billing")


@pytest.mark.parametrize(
    ("bits", "code", "says"),
    [
        (
            1 << 3 | 1 << 8,
            0,
            "group g: Read, Describe; not Delete, DescribeConfigs, AlterConfigs; broker 1 coordinates it",
        ),
        (1 << 8, 1, "group g: Describe; not Read, Delete, DescribeConfigs, AlterConfigs"),
        (-(2**31), 0, "group g: the broker does not report permissions; broker 1 coordinates it"),
    ],
)
def test_what_we_may_do_with_a_group_is_asked_of_its_coordinator(bits: int, code: int, says: str) -> None:
    asked = []

    def describe(request: Any) -> DescribeGroupsResponse:
        asked.append(request)
        return DescribeGroupsResponse(
            groups=[DescribedGroup(group_id="g", group_state="Dead", authorized_operations=bits)]
        )

    answers = rights(1 << 3)
    answers["DescribeGroups"] = describe
    answers["FindCoordinator"] = lambda _: FindCoordinatorResponse(node_id=1, host="127.0.0.1", port=rights_port[0])
    with speaking(answers, {**MODERN, 15: (0, 6)}) as address:
        rights_port[0] = int(address.rpartition(":")[2])
        exit_code, steps, _ = examine(address, "-g", "g")
    assert (exit_code, steps[-1]["result"]) == (code, says)
    assert steps[-1]["fault"] == ("not-authorized" if code else None)
    assert [(one.groups, one.include_authorized_operations) for one in asked] == [(["g"], True)]


def test_a_coordinator_that_still_loads_its_groups_is_asked_again() -> None:
    loading = [codes.COORDINATOR_LOAD_IN_PROGRESS.number, codes.NOT_COORDINATOR.number, 0]

    def describe(_: Any) -> DescribeGroupsResponse:
        group = DescribedGroup(error_code=loading.pop(0), group_id="g", authorized_operations=1 << 3 | 1 << 8)
        return DescribeGroupsResponse(groups=[group])

    answers = rights(1 << 3)
    answers["DescribeGroups"] = describe
    answers["FindCoordinator"] = lambda _: FindCoordinatorResponse(node_id=1, host="127.0.0.1", port=rights_port[0])
    with speaking(answers, {**MODERN, 15: (0, 6)}) as address:
        rights_port[0] = int(address.rpartition(":")[2])
        exit_code, steps, _ = examine(address, "-g", "g")
    assert exit_code == 0
    assert steps[-1]["result"].startswith("group g: Read, Describe; ")
    assert loading == []


def test_topics_are_counted_by_what_may_be_done_with_them() -> None:
    with SandboxThread(topics={"a": 1, "b": 1}) as sandbox:
        _, steps, _ = examine(sandbox.bootstrap)
    every = "everything (Read, Write, Create, Delete, Alter, Describe, DescribeConfigs, AlterConfigs)"
    assert steps[-1]["result"] == f"topics: 2 visible, each: {every}"
    both = [MetadataResponseTopic(name=name, topic_authorized_operations=bits)
            for name, bits in (("a", 1 << 3 | 1 << 8), ("b", 1 << 4 | 1 << 8))]  # fmt: skip
    answers = rights(0)
    answers["Metadata"] = lambda asked: MetadataResponse(
        cluster_id="c", brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=rights_port[0])],
        topics=[] if asked.topics == [] else both,
    )  # fmt: skip
    with speaking(answers) as address:
        rights_port[0] = int(address.rpartition(":")[2])
        _, steps, _ = examine(address)
    counts = "Read 1, Write 1, Create 0, Delete 0, Alter 0, Describe 2, DescribeConfigs 0, AlterConfigs 0"
    assert steps[-1]["result"] == f"topics: 2 visible: {counts}"


# -- the configuration -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (properties(linger_mss="1"), "unknown property linger.mss"),
        (properties(security_protocol="SASL_SSL"), "SASL requires sasl.mechanism"),
        (properties(security_protocol="SSL", ssl_ca_location="/no/such/file"), "/no/such/file"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_the_first_step(given: list[str], says: str) -> None:
    code, steps, err = examine("localhost:1", *given)
    assert code == 2
    assert [(step["step"], step["status"], step["fault"]) for step in steps] == [("config", "failed", "config")]
    assert says in steps[0]["result"]
    assert says in err


def test_a_hostile_peer_cannot_act_on_the_terminal() -> None:
    topic = MetadataResponseTopic(name="t", topic_authorized_operations=1 << 8)
    evil = MetadataResponse(
        cluster_id="\x1b]0;x\x07", topics=[topic],
        brokers=[MetadataResponseBroker(node_id=1, host="\x1b[2Jevil\u202e", port=1)],
    )  # fmt: skip
    with speaking({"Metadata": lambda _: evil}) as address:
        done = Shell(address)("doctor", "-b", address)
    assert b"\x1b" not in done.stderr
    assert "\u202e".encode() not in done.stderr
