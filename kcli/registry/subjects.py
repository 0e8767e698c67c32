"""Subjects: under which one a topic's schemas are, contexts, and how a subject is written in a URL.

A context is a space of ids of its own in one registry: `:.staging:orders-value` is the subject `orders-value` in the
context `.staging`. `:*:` stands for all contexts, `:.__GLOBAL:` for what holds in all of them.
"""

from __future__ import annotations

from urllib.parse import quote

from kcli.errors import UsageError

ALL_CONTEXTS = ":*:"
DEFAULT_CONTEXT = ":.:"
GLOBAL = ":.__GLOBAL:"
DEFAULT_GROUP = "default"
"""That of Apicurio's artifacts whose names are the subjects of its compatibility API."""
TOPIC, RECORD, TOPIC_RECORD, ASSOCIATED = "topic", "record", "topic-record", "associated"
STRATEGIES = (TOPIC, RECORD, TOPIC_RECORD, ASSOCIATED)
NAMED = (RECORD, TOPIC_RECORD)
"""Strategies that make the subject of the schema's name."""
CONFLUENT = {
    "TopicNameStrategy": TOPIC,
    "RecordNameStrategy": RECORD,
    "TopicRecordNameStrategy": TOPIC_RECORD,
    "AssociatedNameStrategy": ASSOCIATED,
}
"""The classes of Confluent's serializers, which `value.subject.name.strategy` names there."""


def strategy_named(word: str) -> str:
    """The strategy that a word means, the class of Confluent's serializers too; "" for another word."""
    strategy = CONFLUENT.get(word.rpartition(".")[2], word)
    return strategy if strategy in STRATEGIES else ""


def subject_of(strategy: str, topic: str, part: str, record: str = "") -> str:
    """The subject of a topic's keys or values (`part` is "key" or "value") by a strategy; `record` is the full name of
    the schema's record. Of `associated` it is the one that holds where the registry knows no association. Raises
    UsageError where the strategy wants a record's name and the schema has none."""
    if strategy not in STRATEGIES:
        raise UsageError(f"no strategy of subjects is named {strategy}; known: {', '.join(STRATEGIES)}")
    if strategy in (TOPIC, ASSOCIATED):
        return f"{topic}-{part}"
    if not record:
        raise UsageError(f"the strategy {strategy} takes a schema with a name: a record or a message")
    return record if strategy == RECORD else f"{topic}-{record}"


def split(subject: str) -> tuple[str, str]:
    """(context, name): the context is "" for the default one."""
    if subject.startswith(":"):
        context, colon, name = subject[1:].partition(":")
        if colon and (context.startswith(".") or context == "*"):
            return ("" if context == "." else context), name
    return "", subject


def within(context: str, subject: str) -> str:
    """The subject with its context in front; one that names a context keeps its own."""
    own, name = split(subject)
    if own or not context or name != subject:
        return subject
    return f"{prefix(context)}{subject}"


def prefix(context: str) -> str:
    """The prefix of the subjects of a context, which means the context itself: `:.staging:`. A context may be
    named without its dot."""
    if not context or context == ".":
        return ""
    return f":{context}:" if context == "*" or context.startswith(".") else f":.{context}:"


def listed_by(context: str) -> str:
    """The prefix that lists the subjects of a context: that of the default one is `:.:`."""
    return prefix(context) or DEFAULT_CONTEXT


def among(prefix: str, subjects: list[str]) -> list[str]:
    """Those of the subjects that begin with a prefix; with one that names a context, those of this context whose names
    begin with what follows it. `:*:` is every context, and `:.:` the default one."""
    context, beginning = split(prefix)
    if beginning == prefix:
        return [subject for subject in subjects if subject.startswith(prefix)]
    places = ((subject, *split(subject)) for subject in subjects)
    return [subject for subject, own, name in places if context in ("*", own) and name.startswith(beginning)]


def quoted(name: str) -> str:
    """A name as one part of a path, its slashes and colons too: `a/b` is the subject `a/b`. Dots alone would be a step
    in the path."""
    if name.strip(".") == "":
        return name.replace(".", "%2E")
    return quote(name, safe="")
