"""`kcli registry` against a registry, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import inside
from tests.programs import Result


class Commands:
    """Lines against one registry, `name` says which. Files are made in `folder`; kcli keeps its state there too."""

    def __init__(self, url: str, folder: Path, name: str = "") -> None:
        self.url, self.folder, self.name = url, folder, name
        self.env = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache")}

    def run(self, *words: str, code: int = 0, env: dict[str, str] | None = None) -> Result:
        subject = [] if words[0] == "undo" else ["registry"]
        done = inside(*subject, *words, env={**self.env, "KCLI_SCHEMA_REGISTRY_URL": self.url, **(env or {})})
        assert done.code == code, (words, done)
        return done

    def rows(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        """The rows of the document's first section."""
        document = json.loads(self.run(*words, "-J", code=code).out)
        found: list[dict[str, Any]] = next(value for value in document.values() if isinstance(value, list))
        return found

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def avro(self, name: str, *fields: str, record: str = "Order") -> str:
        """A file with a record; `note:string=` has a default, `id:int` none."""
        rows = []
        for field in fields:
            key, _, rest = field.partition(":")
            kind, given, default = rest.partition("=")
            row: dict[str, object] = {"name": key, "type": kind}
            value = int(default or 0) if kind in ("int", "long") else default
            rows.append({**row, "default": value} if given else row)
        return self.file(name, json.dumps({"type": "record", "name": record, "fields": rows}))

    def registered(self, subject: str, path: str, *words: str) -> int:
        """Its id."""
        (row,) = self.rows("register", subject, path, "--execute", *words)
        assert row["result"] in ("registered", "known"), row
        number: int = row["id"]
        return number
