"""Our own secrets taken out of what peers say: a broker or a token provider may send back what it was given."""

from __future__ import annotations

HIDDEN = "***"
SHORTEST = 3  # characters: a shorter secret would take words apart
LONG = 8  # characters from which on a secret is hidden inside a longer word too

_sent: set[str] = set()


def remember(text: str) -> None:
    """From now on `redacted` hides this text: a secret that was revealed to be sent, or another form of a secret."""
    if len(text) >= SHORTEST:
        _sent.add(text)


def redacted(text: str) -> str:
    """The peer's text, with *** for each secret of ours. A short secret is hidden only where it is a word of its
    own: the password "tok" leaves "invalid_token" as it is."""
    for secret in sorted((secret for secret in _sent if secret in text), key=len, reverse=True):
        text = text.replace(secret, HIDDEN) if len(secret) >= LONG else _without_word(text, secret)
    return text


def _without_word(text: str, word: str) -> str:
    import re

    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, text)
