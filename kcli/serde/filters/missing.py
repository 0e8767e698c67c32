"""What to say about a field that none of the records has, where a condition kept none of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def missing(path: tuple[str | None, ...], values: list[Any]) -> str:
    """The sentence for a path of names, in which None is an element of a list; "" where a value has the field."""
    here = values
    for depth, name in enumerate(path):
        objects = [value for value in here if isinstance(value, dict)]
        lists = [item for value in here if isinstance(value, list) for item in value]
        found = lists if name is None else [value[name] for value in objects if name in value]
        if not found:
            from kcli.text.suggest import did_you_mean

            shown = "value" + "".join(f".{name}" if name is not None else "[…]" for name in path[: depth + 1])
            names = dict.fromkeys(key for value in objects for key in value)
            count = "the record" if len(values) == 1 else f"any of the first {len(values):,} records"
            if not objects and depth == 0 and name is not None:
                return f"{shown}: none of the first {len(values):,} values is a JSON object"
            hint = "" if name is None else did_you_mean(name, names)
            return f"{shown} is not in {count}{hint}"
        here = found
    return ""
