"""`make tables`: what is made of the declarations of the commands.

The tables that the fast parser and completion read, a module a subject, and the pages of docs/reference.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from kcli.cli.output.tables.shape import Shape, every
from kcli.cli.parsing.command import DECLARED, Command
from kcli.cli.parsing.help import reference
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.registry import SUBJECTS, modules

SHAPES = '''"""What `kcli schema` has a schema of. Made by `make tables`; do not edit."""

NAMES = (
{names})

COLUMNS = {{
{columns}}}
"""The columns of the tables of each."""
'''
FOLDER = Path(__file__).parent / "tables"
HEAD = '''"""The commands of `kcli {name}`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

'''


def tables() -> dict[str, str]:
    """The text of each generated module, by its subject."""
    every_table = {name: _table(name) for name in SUBJECTS}
    return {
        **every_table,
        "shapes": SHAPES.format(
            names="".join(f"    {one.name!r},\n" for one in every()),
            columns="".join(f"    {one.name!r}: {_columns(one)!r},\n" for one in every()),
        ),
    }


def write() -> None:
    """Write those that changed, and delete what belongs to no subject."""
    wanted = {FOLDER / f"{name}.py": text for name, text in tables().items()}
    wanted[FOLDER / "__init__.py"] = '"""What the fast parser reads. Made by `make tables`; do not edit."""\n'
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.py"):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _table(name: str) -> str:
    commands: dict[str, Command] = {}
    for module in modules(name):
        import_module(module)
        commands |= {
            path: row for path, row in DECLARED.items() if row.run.startswith(f"{module}:") and _of(path, name)
        }
    options: dict[Option, str] = {}
    rows = []
    for path, command in commands.items():
        names = [options.setdefault(option, f"_{len(options)}") for option in command.options]
        fields = {**_fields(command), "options": None}
        shown = ", ".join(f"{field}={value!r}" for field, value in fields.items() if value is not None)
        verb = path.partition(" ")[2]
        listed = f"({', '.join(names)}{',' if len(names) == 1 else ''})"
        rows.append(f"    {verb!r}: Command({shown}, options={listed}),\n")
    lines = [f"{name} = Option({_arguments(option)})\n" for option, name in options.items()]
    return f"{HEAD.format(name=name)}{''.join(lines)}\nCOMMANDS = {{\n{''.join(rows)}}}\n"


def _columns(shape: Shape) -> str:
    """The names of the columns that --sort and --columns take."""
    sections = [shape.main, *(section for section in shape.sections if section.table)]
    return " ".join(dict.fromkeys(column.name for section in sections for column in section.columns))


def _of(path: str, name: str) -> bool:
    return path.partition(" ")[0] == name


def _arguments(option: Option) -> str:
    return ", ".join(f"{field}={value!r}" for field, value in _fields(option).items())


def _fields(value: Option | Command) -> dict[str, object]:
    """The fields that differ from their defaults."""
    every = {field.name: (getattr(value, field.name), field.default) for field in value.__fields__}
    return {name: given for name, (given, default) in every.items() if given != default}


if __name__ == "__main__":
    write()
    reference.write_all()
