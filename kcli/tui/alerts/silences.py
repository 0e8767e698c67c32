"""Groups that are muted, or acknowledged with a reason, in a file of the cluster: they stay so after a restart."""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

from kcli.paths import private, state_folder
from kcli.system import files

LEAST = 1 << 20
"""Bytes from which a file is none of ours."""


class Silence(NamedTuple):
    """`status` is what was acknowledged, "" for a group that is muted whatever its status is; `time` is seconds since
    the epoch."""

    status: str
    reason: str
    time: float


def switch(kind: str) -> str:
    """The name under which the alerts about a kind of incident, or a status of groups, are switched off."""
    return f"switch/{kind}"


class Silences:
    """Begins without a file; `open` reads that of a cluster, and from then on changes are kept there."""

    def __init__(self) -> None:
        self._of: dict[str, Silence] = {}
        self._path = ""

    def open(self, cluster_id: str) -> None:
        """Take what the file of the cluster says. Raises OSError for one that cannot be read; what is not kcli's is
        skipped."""
        folder = state_folder("alerts")
        self._path = os.path.join(folder, re.sub(r"[^\w.-]", "_", cluster_id) + ".json")
        if not os.path.exists(self._path) or os.path.getsize(self._path) > LEAST:
            return
        try:
            read = json.loads(files.read(self._path, LEAST))
        except (ValueError, RecursionError):
            return
        for group, silence in read.items() if isinstance(read, dict) else ():
            status, reason, time = (
                map(silence.get, Silence._fields) if isinstance(silence, dict) else (None, None, None)
            )
            if isinstance(status, str) and isinstance(reason, str) and isinstance(time, (int, float)):
                self._of[group] = Silence(status, reason, float(time))

    def put(self, group: str, silence: Silence | None) -> None:
        """Hush a group, or no longer (None). Raises OSError for a file that cannot be written."""
        self._of.pop(group, None)
        if silence is not None:
            self._of[group] = silence
        if not self._path:
            return
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        with open(self._path + ".new", "w", encoding="utf-8", opener=private) as file:
            json.dump({name: one._asdict() for name, one in self._of.items()}, file)
        os.replace(self._path + ".new", self._path)

    def of(self, group: str, status: str) -> Silence | None:
        """Why a group with this status is quiet; None where it is not. An acknowledged status that changed is news."""
        silence = self._of.get(group)
        return silence if silence is not None and silence.status in ("", status) else None

    def off(self, kind: str) -> bool:
        """Whether alerts about a kind of incident, or a status of groups, are switched off."""
        return self.of(switch(kind), "") is not None

    def why(self, name: str, status: str) -> Silence | None:
        """Why there are no alerts of this status of a group, or of this kind of incident; None where there are."""
        return self.of(name, status) or self.of(switch(status), "")

    def __contains__(self, place: object) -> bool:
        """Whether a group with its status is quiet."""
        return isinstance(place, tuple) and self.why(*place) is not None
