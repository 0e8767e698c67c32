"""The rows of `kcli config show`: properties and where their values come from."""

from __future__ import annotations

from kcli.cli.output.tables.rows import Row, column


class PropertyRow(Row, section="settings"):
    property: str = column("Name of the property.", rank=1)
    value: str | None = column("Its value; secrets are ***, sources are named.", rank=1)
    from_: str = column("Option, variable, file:line, or default.", name="from")
