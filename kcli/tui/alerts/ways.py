"""How an alert leaves the screen: the bell, a notification of the desktop (OSC 9), a request to a webhook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from kcli.errors import KcliError, UsageError
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.tui.alerts.changes import Alert

SECONDS = 5.0
"""Until a webhook must have answered."""
LONGEST = 200
"""Letters of a notification."""


class Ways(NamedTuple):
    """The ways that are wanted; `hooks` are addresses."""

    bell: bool = False
    desktop: bool = False
    hooks: tuple[str, ...] = ()


def ways_of(text: str) -> Ways:
    """`bell,desktop,https://…`. Raises UsageError for anything else."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    hooks = tuple(word for word in words if word.startswith(("http://", "https://")))
    for word in words:
        if word not in ("bell", "desktop", *hooks):
            raise UsageError(f"--alert {word}: expected bell, desktop or the http address of a webhook")
    return Ways("bell" in words, "desktop" in words, hooks)


def notification(words: str) -> str:
    """What a terminal shows on the desktop; names of groups in it are fit for a terminal."""
    return f"\x1b]9;{printable(words)[:LONGEST]}\x07"


def post(hook: str, cluster: str, alert: Alert) -> None:
    """Send an alert as JSON. Raises KcliError when it is not taken."""
    body = {
        "cluster": cluster,
        "group": alert.group,
        "status": alert.now,
        "before": alert.before,
        "lag": alert.lag,
        "unknown": alert.unknown,
        "time": alert.time,
        "text": f"{cluster}: {alert.words}",
    }
    request = Request(hook, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=SECONDS):
            pass
    except HTTPError as problem:
        problem.close()
        raise KcliError(f"the webhook answered {problem.code} to an alert") from None
    except (URLError, OSError, ValueError) as problem:
        raise KcliError(f"the webhook took no alert: {getattr(problem, 'reason', problem)}") from None
