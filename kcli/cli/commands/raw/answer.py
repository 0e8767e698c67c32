"""An answer as `kcli raw` prints it: JSON, with its error codes explained."""

from __future__ import annotations

import sys
from json import dumps
from typing import Any

from kcli import codes


def write_json(thing: Any, *, compact: bool) -> None:
    """Print it, on a terminal with nothing that a terminal would obey. Raises BrokenPipeError."""
    text = dumps(thing, ensure_ascii=False, indent=None if compact else 2, separators=(",", ":") if compact else None)
    data = f"{text}\n".encode("utf-8", "backslashreplace")
    if sys.stdout.isatty():
        from kcli.text.escape import visible_json

        data = visible_json(data)
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode())
    else:
        sys.stdout.flush()
        binary.write(data)
    sys.stdout.flush()


def explained(thing: Any, failed: list[str], *, path: str = "", put: bool = False) -> Any:
    """The answer, with `put` the name of each error code beside it; the codes that are errors go into `failed`, as
    sentences with their path."""
    if isinstance(thing, list):
        return [explained(item, failed, path=f"{path}[{n}]", put=put) for n, item in enumerate(thing)]
    if not isinstance(thing, dict):
        return thing
    explained_: dict[str, object] = {}
    for name, value in thing.items():
        at = f"{path}.{name}" if path else name
        explained_[name] = explained(value, failed, path=at, put=put)
        if name.lower().endswith("errorcode") and isinstance(value, int):
            code = codes.of(value)
            if put:
                explained_[name.removesuffix("Code") + "Name"] = code.name
            if code:
                failed.append(f"{at} {value}: {code.name}: {code.text}")
    return explained_
