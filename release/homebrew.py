"""`python -m release.homebrew SOURCE URL`: the Homebrew formula of a release whose source distribution lies at URL.

Untried: `brew install --build-from-source ./kcli-kafka.rb` on a Mac is the test. `brew update-python-resources
kcli-kafka` writes the `resource` blocks of the dependencies. `virtualenv_install_with_resources` links the man pages.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from urllib.parse import urlsplit

FORMULA = """class KcliKafka < Formula
  include Language::Python::Virtualenv

  desc "Command-line, dashboard and embedded sandbox for Apache Kafka"
  homepage "{homepage}"
  url "{url}"
  sha256 "{digest}"
  license "Apache-2.0"

  depends_on "rust" => :build
  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
    generate_completions_from_executable(bin/"kcli-kafka", "completion")
  end

  test do
    assert_match "Everything above was checked", shell_output("#{{bin}}/kcli-kafka demo --no-dashboard")
  end
end
"""


def formula(source: Path, url: str) -> str:
    """The formula's text. Raises ValueError for an address that Homebrew could not download from."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.path.endswith(source.name):
        raise ValueError(f"{url!r} is not an https address that ends with {source.name}")
    homepage = f"{parts.scheme}://{parts.netloc}{parts.path.split('/releases/')[0]}"
    return FORMULA.format(homepage=homepage, url=url, digest=hashlib.sha256(source.read_bytes()).hexdigest())


if __name__ == "__main__":
    try:
        sys.stdout.write(formula(Path(sys.argv[1]), sys.argv[2]))
    except ValueError as error:
        sys.exit(str(error))
