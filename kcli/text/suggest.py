"""The name that was probably meant. difflib is imported only for a mistyped name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """ "; did you mean A or B?", or "" when no name is near."""
    from difflib import get_close_matches

    folded: dict[str, str] = {}
    for known in names:
        folded.setdefault(known.lower(), known)
    near = [folded[match] for match in get_close_matches(name.lower(), folded, n=3, cutoff=cutoff)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
