"""What `kcli raw --list`, `raw --describe`, `meta` and `coord` print: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import Section, Shape, column

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="raw.list",
        about="APIs, one a row.",
        sections=(
            Section(
                name="apis",
                columns=(
                    column("key", "integer", "Number of the API."),
                    column("api", "string", "Its name; null for one that kcli does not know.", null=True),
                    column("kcli", "string", "Versions that kcli speaks.", null=True),
                    column("broker", "string", "Versions that the broker offers; null: none.", null=True),
                    column("used", "integer", "The version spoken between both; null: none.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="raw.describe",
        about="An API, and the fields of its request and answer.",
        sections=(
            Section(
                name="api",
                columns=(
                    column("key", "integer", "Number of the API."),
                    column("api", "string", "Its name."),
                    column("versions", "string", "Versions that kcli speaks."),
                    column("flexible", "string", "Versions with tagged fields and compact lengths."),
                    column("about", "string", "What it is for."),
                ),
            ),
            Section(
                name="fields",
                columns=(
                    column("kind", "string", "request or answer."),
                    column("field", "string", "Its name with its place, as Kafka's schemas call it."),
                    column("type", "string", "Its type in Kafka's words; [] is a list."),
                    column("versions", "string", "Versions that carry it."),
                    column("null", "string", "Versions in which it may be null.", null=True, sparse=True),
                    column("default", "string", "What counts when it is not given, as JSON."),
                    column("tag", "integer", "Number of a tagged field.", null=True, sparse=True),
                    column("about", "string", "What it means, where its name does not say that.", null=True),
                ),
            ),
        ),
    ),
)
