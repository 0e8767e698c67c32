"""What the administration commands print beyond topics, groups and lag: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import Section, Shape, column

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="faults",
        about="What a sandbox can be told to do wrong, and what of it is still to happen.",
        sections=(
            Section(
                name="faults",
                columns=(
                    column("fault", "string", "Name of the fault."),
                    column("needs", "strings", "What it has to be told."),
                    column("takes", "strings", "What it may be told.", table=False),
                    column("about", "string", "What happens."),
                ),
            ),
            Section(
                name="pending",
                columns=(
                    column("fault", "string", "Kind of the fault."),
                    column("api", "string", "The request it is about; null for connections.", null=True),
                    column("what", "string", "Which error, how long, how much."),
                    column("broker", "integer", "The broker that does it; null for any.", null=True, sparse=True),
                    column("topic", "string", "The topic it is about; null for any.", null=True, sparse=True),
                    column("partition", "integer", "The partition it is about; null for any.", null=True, sparse=True),
                    column("times", "integer", "How often it is to happen; null until it is taken back.", null=True),
                ),
            ),
        ),
    ),
)
