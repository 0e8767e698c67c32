"""A hook of the documentation site: which pages its search leaves out, and which ones come first."""

from __future__ import annotations

from typing import Any

UNSEARCHED = ("contributors/", "changelog.md", "benchmarks.md", "curves.md", "where-the-time-goes.md")
BOOSTS = {
    "how-to.md": 4,
    "schemas.md": 2,
    "lag.md": 2,
    "install.md": 2,
    "troubleshooting.md": 2,
    "library/names.md": 0.5,
}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Set what the search plug-in reads before it indexes the page."""
    name = page.file.src_uri
    if name.startswith(UNSEARCHED):
        page.meta["search"] = {"exclude": True}
    elif name in BOOSTS:
        page.meta["search"] = {"boost": BOOSTS[name]}
    return markdown
