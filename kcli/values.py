"""Values: slotted records declared like dataclasses, cheap to import.

Importing `dataclasses` takes 13 ms, a third of the start-up time budget of a whole command, so kcli has this small
mechanism instead. The wire messages (mutable) and the settings (frozen) use it. The `__init__` of a class is compiled
only after a few instances were made, because most classes have only one or two instances in a short run.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature
    from typing import Any, ClassVar, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_):
        return lambda cls: cls


class _TupleType(type):
    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(mcs, name, bases, body)
        from collections import namedtuple

        types = body["__annotations__"]
        defaults = [body[one] for one in types if one in body]
        made: Any = namedtuple(name, types, defaults=defaults, module=body["__module__"])  # type: ignore[misc]
        made.__doc__ = body.get("__doc__", made.__doc__)
        made.__annotations__ = made.__new__.__annotations__ = types
        return made


class NamedTuple(metaclass=_TupleType):
    """`typing.NamedTuple` at run time without importing `typing`, which takes longer to import than most kcli modules.
    Type checkers see the one from `typing`."""


class Field:
    """A declared field: its annotation as written and its default."""

    __slots__ = ("annotation", "default", "extra", "factory", "name")

    def __init__(
        self, *, default: Any = None, factory: Callable[[], Any] | None = None, extra: Any = None, name: str = ""
    ) -> None:
        self.name = name
        self.annotation = ""
        self.default = default
        self.factory = factory
        self.extra = extra

    def make_default(self) -> Any:
        return self.factory() if self.factory is not None else self.default


def field(*, default: Any = None, factory: Callable[[], Any] | None = None, extra: Any = None) -> Any:
    """Declare a field that needs more than a plain default: a factory, or `extra` for the class's own use."""
    return Field(default=default, factory=factory, extra=extra)


FEW = 8
"""Number of instances filled field by field (3 µs each) before `__init__` is compiled (100 µs)."""
_made: dict[type, int] = {}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class ValueType(type):
    """Metaclass that turns annotations into `__slots__` and fields; the rest of the class body is unchanged. A `mixin`
    has no instances and no slots: classes with several bases define the slots for its fields."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], *, mixin: bool = False, **options: Any
    ) -> Any:
        own: list[Field] = []
        for attribute, annotation in body.get("__annotations__", {}).items():
            if annotation.startswith("ClassVar") or attribute.startswith("__"):
                continue
            given = body.pop(attribute, None)
            made = given if isinstance(given, Field) else Field(default=given)
            made.name, made.annotation = attribute, annotation
            own.append(made)
        inherited = [f for base in reversed(bases) for f in getattr(base, "__fields__", ())]
        fields = {f.name: f for f in inherited + own}  # a redeclared field keeps its position
        slotted = [base for base in bases if not getattr(base, "__mixin__", False)]
        known = {f.name for base in slotted for f in getattr(base, "__fields__", ())}
        slots = () if mixin else tuple(name for name in fields if name not in known)
        body["__slots__"] = slots + tuple(body.get("__slots__", ()))
        body["__fields__"], body["__mixin__"] = tuple(fields.values()), mixin
        if any(_made.get(base, 0) > FEW for base in bases):  # their compiled __init__ sets only their own fields
            body.setdefault("__init__", Value.__init__)
        return super().__new__(mcs, name, bases, body)

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, body)

    @property
    def __signature__(cls) -> Signature:
        """The fields with types and defaults, for `help` and editors."""
        from inspect import Parameter, Signature

        fields: tuple[Field, ...] = getattr(cls, "__fields__", ())
        return Signature(
            [
                Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.make_default(), annotation=f.annotation)
                for f in fields
            ]
        )


class Value(metaclass=ValueType):
    """A mutable slotted record: keyword arguments, equality by fields, a readable repr."""

    __fields__: ClassVar[tuple[Field, ...]]

    if not TYPE_CHECKING:

        def __init__(self, **given):
            cls = type(self)
            _made[cls] = made = _made.get(cls, 0) + 1
            if made > FEW:
                _compile_init(cls)
                self.__init__(**given)
                return
            for f in cls.__fields__:
                object.__setattr__(self, f.name, given.pop(f.name) if f.name in given else f.make_default())
            if given:
                raise TypeError(f"__init__() got an unexpected keyword argument {next(iter(given))!r}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in self.__fields__)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in self.__fields__)

    __hash__ = None  # type: ignore[assignment]


class Frozen(Value):
    """A value that cannot change after creation; `replace` makes a changed copy."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed; use replace({name}=...)")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(getattr(self, f.name) for f in self.__fields__))

    def replace(self: T, **changes: Any) -> T:
        """Return a copy with some fields changed. Raises TypeError for an unknown field."""
        kept = {f.name: getattr(self, f.name) for f in type(self).__fields__}  # type: ignore[attr-defined]
        return type(self)(**(kept | changes))


def _compile_init(cls: type) -> None:
    """Give `cls` its own `__init__(self, *, a=..., b=...)` with one straight-line assignment per field."""
    names: dict[str, Any] = {"set": object.__setattr__}
    arguments, stores = [], []
    for f in cls.__fields__:  # type: ignore[attr-defined]
        names[f"default_{f.name}"] = f.factory if f.factory is not None else f.default
        made = f"default_{f.name}() if {f.name} is missing else {f.name}" if f.factory is not None else f.name
        arguments.append(f"{f.name}={'missing' if f.factory is not None else f'default_{f.name}'}")
        stores.append(f" set(self, {f.name!r}, {made})" if issubclass(cls, Frozen) else f" self.{f.name} = {made}")
    names["missing"] = object()
    star = "*, " if arguments else ""
    source = f"def __init__(self, {star}{', '.join(arguments)}):\n" + ("\n".join(stores) or " pass")
    exec(source, names)
    subclasses: list[type] = cls.__subclasses__()
    for derived in subclasses:  # they have fields of their own
        if "__init__" not in vars(derived):
            derived.__init__ = Value.__init__  # type: ignore[misc]
    cls.__init__ = names["__init__"]  # type: ignore[misc]
