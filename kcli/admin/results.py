"""The result of each item given to a method of `Admin`."""

from __future__ import annotations

from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, TypeVar

    Item = TypeVar("Item")
    Value = TypeVar("Value")

    class _Base(dict[Item, Value | KcliError], Generic[Item, Value]):
        """A dictionary of values and errors, for type checkers."""

else:
    _Base = dict
    Item = Value = None


class Results(_Base[Item, Value]):
    """A dictionary from each item to its value, or to the KcliError with which it failed. The value is True if the item
    was changed and there is nothing else to report."""

    @property
    def errors(self) -> dict[Item, KcliError]:
        """The items that failed."""
        return {item: one for item, one in self.items() if isinstance(one, KcliError)}

    def check(self) -> dict[Item, Value]:
        """Return the values of all items. Raises the first error, with a note for each other one."""
        failed = self.errors
        if failed:
            first, *others = failed.values()
            for other in others:
                first.add_note(f"and: {other}")
            raise first
        return {item: one for item, one in self.items() if not isinstance(one, KcliError)}
