"""The pages hold together, also where no site is built: each link leads somewhere, each page is in the nav."""

from __future__ import annotations

import re
import tomllib
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote

import yaml

import kcli
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(str(path.relative_to(ROOT)) for path in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


@each("page", PAGES)
def test_each_link_leads_to_a_file_and_a_heading(page: str) -> None:
    at = ROOT / page
    wrong = []
    for link in LINK.findall(text_of(at)):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = Path(normpath(at.parent / name)) if name else at
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
        elif page.startswith("docs/") and DOCS not in target.parents:
            wrong.append(f"{link} is outside of docs")
    assert wrong == []


def test_the_nav_names_each_page_once() -> None:
    def files(nav: object) -> list[str]:
        if isinstance(nav, str):
            return [nav]
        parts = nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else []
        return [name for part in parts for name in files(part)]

    named = files(yaml.safe_load((ROOT / "mkdocs.yml").read_text().replace("!ENV ", ""))["nav"])
    assert sorted(named) == sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


def test_versions_names_what_is_declared_and_what_is_run() -> None:
    page = (DOCS / "versions.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r"Python :: 3\.\d+$", one)}
    assert declared == set(re.findall(r"\b3\.\d\d\b", page.partition("## Apache Kafka")[0]))
    (kafka,) = re.findall(r"<kafka.version>(.+)</kafka.version>", (ROOT / "tests/kafka/pom.xml").read_text())
    assert f"| Apache Kafka {kafka} |" in page
    missing = [name for name in re.findall(r"`(tests/[\w/]+(?:\.py)?)`", page) if not (ROOT / name).exists()]
    assert missing == []


def test_names_has_every_name_of_the_public_face() -> None:
    page = (DOCS / "library/names.md").read_text()
    named = set(re.findall(r"^::: kcli\.[\w.]*?(\w+)$", page, re.MULTILINE))
    named |= set(re.findall(r"\w+", " ".join(re.findall(r"members: \[(.*)\]", page))))
    assert set(kcli.__all__) - named == {"__version__"}


def shown(value: object) -> str:
    """A default as the page of settings shows it."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
        return f"{value:,}"
    return repr(value).replace("'", '"')


def test_settings_has_each_field_with_its_type_default_and_a_sentence() -> None:
    page = (DOCS / "library/settings.md").read_text()
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    described = {text.partition("\n")[0]: text for text in sections}
    public = {name for name in kcli.__all__ if name.endswith("Settings")} | {"Security", "Tls", "Sasl", "OAuth"}
    assert described.keys() == public
    for name, text in described.items():
        rows = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in text.splitlines() if line.startswith("| `")]
        fields = [
            [f"`{one.name}`", f"`{one.annotation}`".replace("|", r"\|"), f"`{shown(one.make_default())}`"]
            for one in getattr(kcli, name).__fields__
        ]
        assert [row[:3] for row in rows] == fields
        assert [row for row in rows if not row[3].endswith((".", "`.")) or len(row[3].split()) < 2] == []
