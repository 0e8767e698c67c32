"""What ACLs say together, held against Kafka's rules written down a second time; and whether the rows of `who-can` are
true of everybody."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from kcli.acls import Acl, AclFilter, concerns, covers, decide, principal, sentence
from kcli.admin.acl_check import verdict, verdicts
from kcli.errors import UsageError
from kcli.sandbox.access.acls import Acls, Authorizer
from tests.effort import tries

NAMES = ("orders", "ord", "o", "orders-2", "other")
PEOPLE = ("User:bob", "User:ann", "User:*")
HOSTS = ("*", "10.0.0.1", "10.0.0.2", "10.0.0.0/8", "10.0.0.2/31", "10.0.0.1/32", "0.0.0.0/0", "::/0")
OPERATIONS = ("all", "read", "write", "describe", "alter", "delete", "describe-configs", "alter-configs")
acls = some.lists(
    some.builds(
        Acl,
        some.just("topic"),
        some.sampled_from([*NAMES, "*"]),
        some.sampled_from(["literal", "prefixed"]),
        some.sampled_from(PEOPLE),
        some.sampled_from(HOSTS),
        some.sampled_from(OPERATIONS),
        some.sampled_from(["allow", "deny"]),
    ),
    max_size=8,
)


def within(block: str, host: str) -> bool:
    """Whether the first bits of an IPv4 address are those of a block."""
    start, _, length = block.partition("/")
    if not length or ":" in start:
        return False
    bits = ["".join(f"{int(part):08b}" for part in address.split(".")) for address in (start, host)]
    return bits[0][: int(length)] == bits[1][: int(length)]


def kafka(rules: list[Acl], name: str, who: str, host: str, operation: str) -> bool:
    """StandardAuthorizer in the plainest words: any denial that matches, else any permission that matches."""
    matching = [
        one
        for one in rules
        if (one.name in (name, "*") if one.pattern == "literal" else name[: len(one.name)] == one.name)
        and one.principal in (who, "User:*")
        and (one.host in (host, "*") or within(one.host, host))
    ]
    implied = {"describe": {"read", "write", "delete", "alter"}, "describe-configs": {"alter-configs"}}
    if any(one.permission == "deny" and one.operation in (operation, "all") for one in matching):
        return False
    return any(
        one.permission == "allow" and one.operation in {operation, "all", *implied.get(operation, ())}
        for one in matching
    )


@settings(max_examples=tries(300), deadline=None)
@given(
    rules=acls,
    name=some.sampled_from(NAMES),
    who=some.sampled_from(["User:bob", "User:ann", "User:zoe"]),
    host=some.sampled_from(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.9.0.1", "11.0.0.1"]),
    operation=some.sampled_from(OPERATIONS[1:]),
)
def test_a_decision_is_kafkas_and_the_rows_of_who_can_tell_it_of_everybody(
    rules: list[Acl], name: str, who: str, host: str, operation: str
) -> None:
    here = [one for one in rules if covers(one, name)]
    wanted = kafka(rules, name, who, host, operation)
    assert verdict(here, who, host, operation).allowed == wanted
    found = decide(here, who, host, operation)
    assert (found is not None and found.permission == "allow") == wanted
    rows = {(one.principal, one.host): one.allowed for one in verdicts(here, operation)}
    named = who if any(principal == who for principal, _ in rows) else "User:*"
    around = [at for principal, at in rows if principal == named and (at in (host, "*") or within(at, host))]
    nearest = max(around, key=lambda at: -1 if at == "*" else int(at.partition("/")[2] or 33), default=None)
    told = nearest is not None and rows[named, nearest]
    assert told == wanted, rows


@settings(max_examples=tries(200), deadline=None)
@given(rules=acls, name=some.sampled_from(NAMES), pattern=some.sampled_from(["any", "match", "literal", "prefixed"]))
def test_a_filter_means_what_kafkas_means(rules: list[Acl], name: str, pattern: str) -> None:
    wanted = AclFilter(kind="topic", name=name, pattern=pattern)
    for one in rules:
        exact = one.name == name
        expected = {
            "any": exact,
            "literal": exact and one.pattern == "literal",
            "prefixed": exact and one.pattern == "prefixed",
            "match": one.name in (name, "*") if one.pattern == "literal" else name.startswith(one.name),
        }[pattern]
        assert wanted.matches(one) == expected


def test_a_denial_implies_nothing_and_a_permission_its_description() -> None:
    write = Acl("topic", "orders", "literal", "User:bob", "*", "write", "allow")
    assert concerns(write, "describe")
    assert not concerns(write._replace(permission="deny"), "describe")
    assert not concerns(write, "describe-configs")
    assert concerns(write._replace(operation="alter-configs"), "describe-configs")


def test_names_of_principals_and_rules_in_words() -> None:
    assert principal("bob") == "User:bob"
    assert principal("Group:ops") == "Group:ops"
    assert principal("User:CN=a,O=b:c") == "User:CN=a,O=b:c"
    for wrong in ("", ":bob", "User:"):
        with pytest.raises(UsageError, match="KIND:NAME"):
            principal(wrong)
    one = Acl("topic", "ord", "prefixed", "User:bob", "10.0.0.1", "write", "deny")
    assert sentence(one) == "deny User:bob write topic prefixed ord from 10.0.0.1"


@pytest.mark.parametrize(
    ("deny", "allowed"),
    [
        ((), True),
        ((("topic", "*", "literal", "User:bob", "*", "write", "deny"),), False),
        ((("topic", "o", "prefixed", "User:*", "*", "all", "deny"),), False),
        ((("topic", "orders", "literal", "User:bob", "*", "write", "deny"),), False),
        ((("topic", "orders-2", "prefixed", "User:bob", "*", "write", "deny"),), True),
        ((("topic", "*", "literal", "User:bob", "10.0.0.9", "write", "deny"),), True),
        ((("topic", "*", "literal", "User:ann", "*", "write", "deny"),), True),
        ((("topic", "*", "literal", "User:bob", "*", "read", "deny"),), True),
    ],
)
def test_who_may_write_some_topic_is_decided_as_kafka_does(deny: tuple[tuple[str, ...], ...], allowed: bool) -> None:
    """KIP-679: only a denial about all that a permission is about takes it away."""
    acls = Acls(lambda kind, facts: None)
    acls.add(Acl("topic", "orders", "literal", "User:bob", "*", "write", "allow"))
    for one in deny:
        acls.add(Acl(*one))
    assert Authorizer(acls, [], everyone=False).allows_any("User:bob", "10.0.0.1", "write", "topic") is allowed
