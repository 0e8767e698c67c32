"""What the doctor reads of a certificate nobody vouches for: its names and times, or nothing; never a crash."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.cli.commands.doctor.tls import read
from tests.certificates import Authority


@pytest.fixture(scope="module")
def der(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    made = Authority(tmp_path_factory.mktemp("tls")).issue("broker", ("kafka.internal", "*.example.com", "10.0.0.1"))
    return ssl.PEM_cert_to_DER_cert(made.certificate.read_text())


def test_names_issuer_and_times(der: bytes) -> None:
    found = read(der)
    assert found is not None
    assert (found.subject, found.issuer) == ("broker", "ca of the tests")
    assert found.names == ("kafka.internal", "*.example.com", "10.0.0.1")
    assert found.begins is not None
    assert found.ends is not None
    assert found.begins < datetime.now(UTC) < found.ends


def test_a_certificate_without_other_names(tmp_path: Path) -> None:
    made = Authority(tmp_path).issue("alone", ())
    found = read(ssl.PEM_cert_to_DER_cert(made.certificate.read_text()))
    assert found is not None
    assert (found.subject, found.names) == ("alone", ())


@given(at=st.integers(0, 600), byte=st.integers(0, 255), cut=st.integers(0, 700))
def test_any_bytes_are_a_certificate_or_none(der: bytes, at: int, byte: int, cut: int) -> None:
    changed = bytearray(der)
    changed[at % len(der)] = byte
    for data in (bytes(changed), der[:cut], bytes(changed[:cut])):
        found = read(data)
        assert found is None or isinstance(found.subject, str)


@given(st.binary(max_size=200))
def test_strange_bytes_are_none(data: bytes) -> None:
    assert read(data) is None
