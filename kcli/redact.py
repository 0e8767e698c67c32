"""Our own secrets taken out of what peers say: a broker or a token provider may send back what it was given."""

from __future__ import annotations

HIDDEN = "***"
SHORTEST = 3  # characters: shorter secrets would take words apart

_sent: set[str] = set()


def remember(text: str) -> None:
    """From now on `redacted` hides this text: a secret that was revealed to be sent, or another form of one."""
    if len(text) >= SHORTEST:
        _sent.add(text)


def redacted(text: str) -> str:
    """What a peer said, with *** for each secret of ours."""
    for secret in sorted((one for one in _sent if one in text), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
