"""Hosts of ACLs beside Kafka's own authorizer, which is called without a broker: 200 generated sets of rules, each
asked from up to twelve addresses, and odd hosts that a broker may have stored, each asked from eight."""

from __future__ import annotations

import random
import subprocess
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from kcli.acls import Acl, client_address, covers, decide
from kcli.admin.acl_check import verdict, verdicts
from tests.kafka.artifacts import libs
from tests.kafka.tools import java

SOURCE = Path(__file__).parents[1] / "AclOracle.java"
NAMES, PEOPLE = ("orders", "ord", "other"), ("User:bob", "User:ann", "User:*")
OPERATIONS = ("all", "read", "write", "describe", "alter", "describe-configs", "alter-configs")
ODD = (
    "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "10.0.0.0/255.0.0.0", "300.1.1.1/8", "10.0.0.0/08", "010.0.0.0/8", "/8",
    "10.0.0.0/", "10.0.0.0/8/8", "2001:db8::/129", "2001:db8::g/32", "::ffff:10.0.0.0/104", "::ffff:0:0/96", "::/0",
    "0.0.0.0/0", "10.1.2.3/8", "2001:db8::1", "2001:db8:0:0:0:0:0:1", "::ffff:10.0.0.1", "localhost", "fe80::/10",
    "2001:DB8::/32", "10.0.0.1/32", "10.0.0.2/31", "2001:db8::2/127", "10.0.0.0/+8", "10.0.0.0/8 ".strip() + "x",
)  # fmt: skip
"""Hosts that a broker may have stored, whatever it makes of them: older ones took any text."""


def address(source: random.Random) -> str:
    """One of few networks, so that blocks meet."""
    if source.random() < 0.6:
        number = (10 << 24) | source.choice((0, 1 << 16, 9 << 16, 0xFF0000)) | source.randrange(4)
        return str(IPv4Address(number))
    number = (0x20010DB8 << 96) | (source.choice((0, 1, 0xFFFF)) << 80) | source.randrange(4)
    text = str(IPv6Address(number))
    return text if source.random() < 0.8 else f"::ffff:{IPv4Address((10 << 24) | source.randrange(4))}"


def block(source: random.Random) -> str:
    one = address(source)
    most = 128 if ":" in one else 32
    return f"{one}/{source.choice((0, 8, 15, 16, 24, most - 2, most - 1, most, source.randrange(most + 1)))}"


def host(source: random.Random) -> str:
    kind = source.random()
    return (
        "*"
        if kind < 0.15
        else block(source)
        if kind < 0.65
        else source.choice(ODD)
        if kind < 0.8
        else client_address(address(source))
    )


def rule(source: random.Random) -> Acl:
    return Acl(
        *("topic", source.choice((*NAMES, "*")), source.choice(("literal", "prefixed")), source.choice(PEOPLE)),
        *(host(source), source.choice(OPERATIONS), source.choice(("allow", "allow", "deny"))),
    )


def kafkas(questions: list[tuple[list[Acl], str, str, str, str]]) -> list[str]:
    """What Kafka's authorizer answers: ALLOWED or DENIED."""
    lines = []
    for rules, who, at, operation, name in questions:
        words = [(one.name, one.pattern, one.principal, one.host, one.operation, one.permission) for one in rules]
        told = [",".join((*row[:4], row[4].replace("-", "_"), row[5])) for row in words]
        lines.append(f"{' '.join(told)}\t{who},{at},{operation.replace('-', '_')},{name}\n")
    command = [*java(), "-cp", f"{libs()}/*", str(SOURCE)]
    done = subprocess.run(command, input="".join(lines), capture_output=True, text=True, timeout=120, check=True)
    answers = done.stdout.split()
    assert len(answers) == len(questions), done.stderr[-2000:]
    return answers


def test_hosts_of_200_sets_of_rules_are_decided_as_kafkas_authorizer_does() -> None:
    source = random.Random(1276)
    questions = []
    for _ in range(200):
        rules = [rule(source) for _ in range(source.randrange(1, 9))]
        for at in sorted({address(source) for _ in range(12)}):
            person = source.choice(("User:bob", "User:ann", "User:zoe"))
            questions.append((rules, person, at, source.choice(OPERATIONS[1:]), source.choice(NAMES)))
    answers = kafkas(questions)
    assert {"ALLOWED", "DENIED"} == set(answers)
    for (rules, who, at, operation, name), answer in zip(questions, answers, strict=True):
        here = [one for one in rules if covers(one, name)]
        found = decide(here, who, client_address(at), operation)
        ours = "ALLOWED" if found is not None and found.permission == "allow" else "DENIED"
        assert ours == answer, (here, who, at, operation)
        assert verdict(here, who, client_address(at), operation).allowed == (answer == "ALLOWED")


def test_each_odd_host_is_decided_as_kafkas_authorizer_does() -> None:
    clients = (
        "10.0.0.1",
        "10.0.0.3",
        "10.200.0.1",
        "2001:db8::1",
        "2001:db8::3",
        "::ffff:10.0.0.1",
        "127.0.0.1",
        "::1",
    )
    questions = [
        ([Acl("topic", "orders", "literal", "User:bob", odd, "read", "allow")], "User:bob", at, "read", "orders")
        for odd in ODD
        for at in clients
    ]
    for (rules, who, at, operation, _), answer in zip(questions, kafkas(questions), strict=True):
        allowed = verdict(rules, who, client_address(at), operation).allowed
        assert allowed == (answer == "ALLOWED"), (rules[0].host, at)
        rows = {one.host: one.allowed for one in verdicts(rules, operation) if one.principal == who}
        assert not allowed or rows.get(rules[0].host), rows
