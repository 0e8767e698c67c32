"""The search of the documentation site (`make docs`) finds the right page: its own worker is asked, in Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.dist, pytest.mark.process, pytest.mark.needs("node")]
SITE = Path(__file__).resolve().parents[2] / "build/site"
FIRST = 5
"""A reader looks at so many results."""
QUERIES = {
    "create a topic": "how-to.html",
    "delete a topic": "how-to.html",
    "increase partitions": "how-to.html",
    "skip a record": "how-to.html",
    "who can": "how-to.html",
    "linger": "library/settings.html",
    "install": "install.html",
    "reset offsets": "reference/groups.html",
    "exit codes": "reference/help/exit-codes.html",
    "avro": "schemas.html",
    "stuck group": "how-to.html",
    "docker": "docker.html",
    "exactly once": "library/transactions.html",
    "connection refused": "troubleshooting.html",
}
"""What people type, and the page that answers it."""
ASK = """
const [worker, index, queries] = process.argv.slice(1);
const fs = require("fs");
let answer;
globalThis.self = globalThis;
globalThis.postMessage = (message) => answer(message);
globalThis.addEventListener = (_, listener) => { globalThis.hear = listener; };
(0, eval)(fs.readFileSync(worker, "utf8"));
const ask = (data) => new Promise((resolve) => { answer = resolve; globalThis.hear({ data }); });
(async () => {
  const { config, docs } = JSON.parse(fs.readFileSync(index, "utf8"));
  await ask({ type: 0, data: { config, docs, options: { suggest: false } } });
  const found = {};
  for (const query of JSON.parse(queries)) {
    const { data } = await ask({ type: 2, data: query });
    found[query] = data.items.map((group) => group[0].location.split("#")[0]);
  }
  console.log(JSON.stringify(found));
})();
"""


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """Pages by query, the best first."""
    workers = [*SITE.glob("assets/javascripts/workers/search.*.js")]
    assert workers, f"there is no site in {SITE}: run make docs"
    words = ["node", "-e", ASK, str(workers[0]), str(SITE / "search/search_index.json"), json.dumps(list(QUERIES))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    pages: dict[str, list[str]] = json.loads(done.stdout)
    return pages


@pytest.mark.parametrize("query", QUERIES)
def test_the_right_page_is_among_the_first_five(query: str, found: dict[str, list[str]]) -> None:
    assert QUERIES[query] in found[query][:FIRST], found[query][:10]


def test_evidence_is_not_searched() -> None:
    docs = json.loads((SITE / "search/search_index.json").read_text())["docs"]
    pages = {one["location"].partition("#")[0] for one in docs}
    hidden = {"changelog.html", "benchmarks.html", "curves.html", "contributors/rules.html"}
    assert len(pages) > 80
    assert pages & hidden == set()
