"""Suggestions for mistyped names. difflib is imported only then."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return "; did you mean A or B?", or "" if no name is similar."""
    from difflib import get_close_matches

    folded: dict[str, str] = {}
    for known in names:
        folded.setdefault(known.lower(), known)
    near = [folded[match] for match in get_close_matches(name.lower(), folded, n=3, cutoff=cutoff)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
