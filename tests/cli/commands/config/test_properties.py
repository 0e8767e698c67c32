"""-X and -F: Java's and librdkafka's names, and a mistyped one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.config.properties.known import KNOWN
from kcli.config.properties.merged import read_properties
from kcli.errors import UsageError
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings
from kcli.values import Value
from tests.each import each


def test_java_and_librdkafka_names_mean_the_same() -> None:
    java = read_properties(None, ["linger.ms=50", "batch.size=10", "acks=all", "compression.type=lz4"])
    theirs = read_properties(
        None, ["queue.buffering.max.ms=50", "batch.size=10", "request.required.acks=-1", "compression.codec=lz4"]
    )
    assert java.producer == theirs.producer == {"linger": 0.05, "batch_size": 10, "acks": -1, "compression": "lz4"}


@each("name", KNOWN)
def test_every_known_property_is_a_field_of_its_settings(name: str) -> None:
    kinds: dict[str, type[Value]] = {
        "client": ClientSettings,
        "producer": ProducerSettings,
        "consumer": ConsumerSettings,
        "group": GroupSettings,
    }
    settings, field, _ = KNOWN[name]
    for one in settings:
        assert field in {f.name for f in kinds[one].__fields__}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("linger.mss=5", "unknown property linger.mss; did you mean linger.ms"),
        ("linger.ms", "expected KEY=VALUE"),
        ("linger.ms=soon", "linger.ms must be a number"),
        ("linger.ms=1e99", "out of range"),
        ("acks=2", "acks must be one of"),
        ("check.crcs=yes", "true or false"),
        ("ssl.endpoint.identification.algoritm=https", "unknown property"),
        ("ssl.crl.location=x", "revocation lists are not read"),
        ("print.key=true", "this is a property of kafka-console-consumer; here -f sets what is printed"),
        ("parse.key=true", "here -K DELIM separates key and value"),
        ("key.separator=:", "here -K DELIM"),
        ("partition.assignment.strategy=best", "unknown assignor"),
    ],
)
def test_a_wrong_property_is_a_usage_error(given: str, says: str) -> None:
    with pytest.raises(UsageError, match=r"^-X ") as caught:
        read_properties(None, [given], option="-X")
    assert says in str(caught.value)


def test_a_secret_is_not_in_the_error() -> None:
    with pytest.raises(UsageError) as caught:
        read_properties(None, ["sasl.passwort=hunter2"])
    assert "hunter2" not in str(caught.value)
    assert "did you mean sasl.password" in str(caught.value)


def test_a_properties_file_as_java_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "# comment\n! comment\n\nbootstrap.servers=a:1,\\\n  b:2\n client.id : me\nkey.serializer=x.Y\n"
        "security.protocol=PLAINTEXT\nlinger.ms=5\n"
    )
    found = read_properties(str(file), ["linger.ms=7"])
    assert (found.bootstrap, found.client, found.producer) == ("a:1,b:2", {"client_id": "me"}, {"linger": 0.007})


def test_a_wrong_line_of_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("client.id=x\nlinger.mss=1\n")
    with pytest.raises(UsageError, match=r"client.properties:2: unknown property linger.mss; did you mean linger.ms"):
        read_properties(str(file), [])


def test_keys_of_other_programs_in_a_file_are_ignored_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("client.id=x\nspring.application.name=shop\n")
    found = read_properties(str(file), [])
    assert found.client == {"client_id": "x"}
    assert found.warnings == [f"{file}:2: spring.application.name is not a Kafka property and is ignored"]
    with pytest.raises(UsageError, match=r"unknown property spring\.application\.name"):
        read_properties(None, ["spring.application.name=shop"])


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_properties(str(tmp_path / "absent"), [])


def test_a_schema_registry_is_only_asked_for_what_names_a_schema(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Nothing listens at its address: who asked it would say so."""
    file = tmp_path / "client.properties"
    file.write_text("schema.registry.url=http://localhost:1\nschema.registry.basic.auth.user.info=a:b\n")
    with SandboxThread(topics={"orders": 1}) as sandbox:
        assert main(["produce", "orders", "--value", "plain", "-q", "-b", sandbox.bootstrap]) == 0
        for words in (["-X", "schema.registry.url=http://localhost:1"], ["-F", str(file)]):
            for command in (("count", "orders"), ("topics", "list"), ("consume", "orders", "-e")):
                assert main([*command, *words, "-b", sandbox.bootstrap]) == 0
                assert capsys.readouterr().err == ""
