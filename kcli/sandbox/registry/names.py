"""Subjects and their contexts: `:.staging:orders-value` is `orders-value` in the context `.staging`, a space of ids of
its own. `.` is the default context, which no name shows."""

from __future__ import annotations

from kcli.sandbox.registry import refusals

DEFAULT = "."
ALL = ":*:"
GLOBAL = ".__GLOBAL"
LONGEST = 1000  # characters of a subject


def split(subject: str) -> tuple[str, str]:
    """(context, name in it)."""
    if subject.startswith(":."):
        context, colon, name = subject[1:].partition(":")
        if colon:
            return context, name
    return DEFAULT, subject


def within(context: str, subject: str) -> str:
    """The subject as an address of the context means it; one that names a context keeps its own."""
    own, name = split(subject)
    if own != DEFAULT:
        return subject
    return shown(context, name)


def shown(context: str, name: str) -> str:
    """A subject as requests and answers have it."""
    return name if context == DEFAULT else f":{context}:{name}"


def checked(subject: str) -> str:
    """The subject. Raises Refused for one that nothing is registered under."""
    context, name = split(subject)
    if not name or len(subject) > LONGEST or not subject.isprintable() or context == GLOBAL or subject.startswith(ALL):
        raise refusals.bad_subject(subject)
    return shown(context, name)
