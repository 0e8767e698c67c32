"""The Homebrew formula names the address of a release and the digest of its source."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from release.homebrew import formula


@pytest.fixture
def source(tmp_path: Path) -> Path:
    archive = tmp_path / "kcli_kafka-1.2.3.tar.gz"
    archive.write_bytes(b"source")
    return archive


def test_the_address_and_the_digest_are_those_of_the_release(source: Path) -> None:
    address = f"https://example.org/kcli/releases/download/v1.2.3/{source.name}"
    text = formula(source, address)
    assert f'url "{address}"' in text
    assert f'sha256 "{hashlib.sha256(b"source").hexdigest()}"' in text
    assert 'homepage "https://example.org/kcli"' in text
    assert '"#{bin}/kcli-kafka demo --no-dashboard"' in text


@pytest.mark.parametrize("address", ["http://example.org/kcli_kafka-1.2.3.tar.gz", "https://example.org/other.tar.gz"])
def test_an_address_that_homebrew_cannot_download_from_is_refused(source: Path, address: str) -> None:
    with pytest.raises(ValueError, match="is not an https address"):
        formula(source, address)
