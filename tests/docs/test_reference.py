"""docs/reference is what the declarations of the commands make of it."""

from __future__ import annotations

import re
from pathlib import Path

from kcli.cli.parsing.help.reference import FOLDER, nav, pages, shared_connection, write
from kcli.cli.parsing.registry import every
from kcli.config.properties.known import KNOWN
from kcli.config.properties.names import REFUSED, SECURITY
from tests.each import each

PAGES = pages()


def test_the_pages_are_what_the_declarations_make() -> None:
    there = {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*.md")}
    assert there.keys() == PAGES.keys(), "run `make reference`"
    assert [name for name, text in PAGES.items() if there[name] != text] == [], "run `make reference`"


def test_the_menu_of_the_site_names_the_pages() -> None:
    text = (FOLDER.parents[1] / "mkdocs.yml").read_text()
    assert nav(text) == text, "run `make reference`"
    assert nav("nav:\n  - Reference:\n      - old.md\n  - More:\n      - more.md\n").endswith(
        "  - More:\n      - more.md\n"
    )
    assert text.count("reference/") == len(PAGES)


def test_a_page_of_what_is_gone_goes(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    write(tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")} == PAGES.keys()


@each("path", [path for path, command in every() if not command.own_words])
def test_a_page_explains_every_option_of_its_command(path: str) -> None:
    subject, _, verb = path.partition(" ")
    command = dict(every())[path]
    page = PAGES[f"{subject}.md"]
    part = re.split(r"^## kcli ", page, flags=re.MULTILINE)
    text = next(one for one in part if one.startswith(f"{path}\n")) if verb else page
    text += PAGES["connection.md"]
    spellings = [flag for option in command.options if not option.hidden for flag in (*option.flags, *option.also)]
    assert [flag for flag in spellings if f"`{flag}`" not in text and f"`{flag} " not in text] == []
    assert "`0` done; `1` failure; `2` usage" in text


def test_the_connection_is_explained_once() -> None:
    options = {option.name: option for option in shared_connection()}
    assert {"bootstrap", "profile"} <= options.keys()
    flag = f"- `{options['bootstrap'].flags[0]}`, "
    assert flag in PAGES["connection.md"]
    assert flag not in PAGES["consume.md"]


def test_fields_of_json_and_codes_of_options_are_there() -> None:
    assert "| `coordinator` | integer |" in PAGES["groups.md"]
    assert re.search(r"^- `--timeout`: .*4", PAGES["consume.md"], re.MULTILINE)
    assert "5` could not connect" not in PAGES["completion.md"]


def test_what_markdown_would_read_as_a_sign_stays() -> None:
    assert "('orders-\\*')" in PAGES["consume.md"]
    assert "header \\_\\_control" in PAGES["consume.md"]
    assert "`--share-ack` release" in PAGES["consume.md"]


def test_each_property_has_a_row_with_its_default() -> None:
    page = PAGES["properties.md"]
    assert [name for name in (*KNOWN, *SECURITY, *REFUSED) if f"`{name}" not in page] == []
    assert "- `schema.registry.basic.auth.user.info`\n" in page
    assert "| `linger.ms`, `queue.buffering.max.ms` | `linger` | 5 | milliseconds |" in page
    assert "| `ssl.endpoint.identification.algorithm` | `verify_host` | https |" in page
    assert "| `sasl.login.read.timeout.ms` | `timeout` | 10000 |" in page
