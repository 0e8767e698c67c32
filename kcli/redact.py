"""Removes our own secrets from messages of peers: a broker or a token provider may send back what it was given."""

from __future__ import annotations

HIDDEN = "***"
SHORTEST = 3  # characters: replacing a shorter secret would garble words
LONG = 8  # characters: a secret this long is hidden even inside a longer word

_sent: set[str] = set()


def remember(text: str) -> None:
    """Make `redacted` hide this text from now on: a secret that is about to be sent, or an encoded form of one."""
    if len(text) >= SHORTEST:
        _sent.add(text)


def redacted(text: str) -> str:
    """Return a peer's text with our secrets replaced by ***. A short secret is only replaced as a separate word: the
    password "tok" leaves "invalid_token" unchanged."""
    for secret in sorted((secret for secret in _sent if secret in text), key=len, reverse=True):
        text = text.replace(secret, HIDDEN) if len(secret) >= LONG else _without_word(text, secret)
    return text


def _without_word(text: str, word: str) -> str:
    import re

    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, text)
