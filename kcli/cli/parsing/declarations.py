"""Descriptions of commands and their options, read from the annotations that declare them in Typer's words.

Imports Typer. Where there is a table (`make tables`), it has these descriptions already.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any, Literal, get_args, get_origin

from typer.models import OptionInfo

from kcli.cli.parsing import shared
from kcli.cli.parsing.command import DECLARED, Command, options_of
from kcli.cli.parsing.option import EVERY, Option, Options
from kcli.cli.parsing.registry import modules

KINDS = {bool: "flag", int: "int", str: "text"}


@cache
def commands_of(subject: str) -> dict[str, Command]:
    """The commands of a subject by the words after its name; "" is the subject itself."""
    found = {}
    for module in modules(subject):
        import_module(module)
        for path, declared in DECLARED.items():
            if declared.run.startswith(f"{module}:") and path.split()[0] == subject:
                found[path.partition(" ")[2]] = described(path)
    return found


def described(path: str) -> Command:
    """A command whose module was imported, with its options."""
    command = DECLARED[path]
    taken = options_of(command.function())
    return command.replace(options=options_declared(taken), moved=taken.moved)


def options_declared(options: type[Options]) -> tuple[Option, ...]:
    """The options of a class, in the order of the help."""
    return tuple(_option(name, part) for name, part in options.declarations())


def _option(name: str, part: type[Options]) -> Option:
    """The option that an annotation declares. Names in it are those of its module, and else of `shared`."""
    annotation = eval(part.__annotations__[name], {**vars(shared), **vars(sys.modules[part.__module__])})
    kind, info = get_args(annotation)
    if not isinstance(info, OptionInfo):
        raise TypeError(f"{part.__name__}.{name}: expected Annotated[…, typer.Option(…)]")
    multiple = get_origin(kind) is list
    one = get_args(kind)[0] if multiple or (get_args(kind) and get_origin(kind) is not Literal) else kind
    literal = get_origin(one) is Literal
    flags = [info.default] if isinstance(info.default, str) else []  # the first flag, where it stands in Annotated
    folded = vars(part).get("folded", ())
    metavar = info.metavar or ("N" if one is int else "")
    return Option(
        name=name,
        flags=(*flags, *(info.param_decls or ())),
        kind="text" if literal else KINDS[one],
        multiple=multiple,
        metavar=metavar,
        help=info.help or "",
        choices=get_args(one) if literal else _extra(info, "choices", ()),
        least=None if info.min is None else int(info.min),
        most=None if info.max is None else int(info.max),
        hidden=info.hidden,
        also=_extra(info, "also", ()),
        word=_extra(info, "names", False),
        panel=vars(part).get("panel", ""),
        folded=folded == EVERY or name in folded,
        alone=_extra(info, "alone", ""),
        empty=_extra(info, "empty", False),
    )


def _extra(info: OptionInfo, name: str, absent: Any) -> Any:
    """What only a KcliOption has."""
    return getattr(info, name, absent) if isinstance(info, shared.KcliOption) else absent
