"""Subject names: the strategies for a topic's schemas, contexts, and quoting in URLs.

A context is a separate space of ids in a registry: `:.staging:orders-value` is the subject `orders-value` in the
context `.staging`. `:*:` means all contexts, `:.__GLOBAL:` what applies to all of them.
"""

from __future__ import annotations

from urllib.parse import quote

from kcli.errors import UsageError

ALL_CONTEXTS = ":*:"
DEFAULT_CONTEXT = ":.:"
GLOBAL = ":.__GLOBAL:"
DEFAULT_GROUP = "default"
"""Apicurio's group of artifacts whose names are the subjects of its compatibility API."""
TOPIC, RECORD, TOPIC_RECORD, ASSOCIATED = "topic", "record", "topic-record", "associated"
STRATEGIES = (TOPIC, RECORD, TOPIC_RECORD, ASSOCIATED)
NAMED = (RECORD, TOPIC_RECORD)
"""Strategies that use the schema's name in the subject."""
CONFLUENT = {
    "TopicNameStrategy": TOPIC,
    "RecordNameStrategy": RECORD,
    "TopicRecordNameStrategy": TOPIC_RECORD,
    "AssociatedNameStrategy": ASSOCIATED,
}
"""The classes of Confluent's serializers for `value.subject.name.strategy`."""


def strategy_named(word: str) -> str:
    """Return the strategy for a word, or for a class of Confluent's serializers; "" if unknown."""
    strategy = CONFLUENT.get(word.rpartition(".")[2], word)
    return strategy if strategy in STRATEGIES else ""


def subject_of(strategy: str, topic: str, part: str, record: str = "") -> str:
    """Return the subject of a topic's keys or values (`part` is "key" or "value") by a strategy; `record` is the full
    name of the schema's record. For `associated` it is the one without an association in the registry. Raises
    UsageError if the strategy needs a record's name and the schema has none."""
    if strategy not in STRATEGIES:
        raise UsageError(f"unknown subject strategy {strategy}; known: {', '.join(STRATEGIES)}")
    if strategy in (TOPIC, ASSOCIATED):
        return f"{topic}-{part}"
    if not record:
        raise UsageError(f"the strategy {strategy} needs a schema with a name: a record or a message")
    return record if strategy == RECORD else f"{topic}-{record}"


def split(subject: str) -> tuple[str, str]:
    """Return (context, name): the context is "" for the default one."""
    if subject.startswith(":"):
        context, colon, name = subject[1:].partition(":")
        if colon and (context.startswith(".") or context == "*"):
            return ("" if context == "." else context), name
    return "", subject


def within(context: str, subject: str) -> str:
    """Return the subject with its context prepended; one that has a context keeps it."""
    own, name = split(subject)
    if own or not context or name != subject:
        return subject
    return f"{prefix(context)}{subject}"


def prefix(context: str) -> str:
    """Return the prefix of the subjects of a context, which also denotes the context itself: `:.staging:`. The
    context's dot is optional."""
    if not context or context == ".":
        return ""
    return f":{context}:" if context == "*" or context.startswith(".") else f":.{context}:"


def listed_by(context: str) -> str:
    """Return the prefix that lists the subjects of a context: for the default one it is `:.:`."""
    return prefix(context) or DEFAULT_CONTEXT


def among(prefix: str, subjects: list[str]) -> list[str]:
    """Return the subjects with a prefix; if it has a context, those of this context whose names have the rest as
    prefix. `:*:` is every context, and `:.:` the default one."""
    context, beginning = split(prefix)
    if beginning == prefix:
        return [subject for subject in subjects if subject.startswith(prefix)]
    places = ((subject, *split(subject)) for subject in subjects)
    return [subject for subject, own, name in places if context in ("*", own) and name.startswith(beginning)]


def quoted(name: str) -> str:
    """Quote a name as one part of a path, including slashes and colons: `a/b` is the subject `a/b`. Names of dots alone
    would be steps in the path."""
    if name.strip(".") == "":
        return name.replace(".", "%2E")
    return quote(name, safe="")
