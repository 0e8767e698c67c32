"""Iceberg catalogs: embedded in SQLite, in the warehouse; behind a URL; or configured by name in pyiceberg."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.errors import OPTION, ConnectError, KcliError, UsageError
from kcli.paths import data_folder
from kcli.pipeline.jobs.lake.table import NotCommitted
from kcli.pipeline.sink.storage import as_s3, in_s3, storage_here
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table, Transaction

NAME = "kcli"
"""The name of the embedded catalog, used in its SQLite rows."""
FILE = "catalog.db"
PATIENT = {"s3.retry-strategy-impl": "kcli.pipeline.sink.storage.patient"}
"""pyiceberg's settings for retrying requests to a store."""


class CatalogPlace(Frozen):
    """--warehouse and --catalog: one of them, or both with the URL of a catalog."""

    warehouse: str = ""
    catalog: str = ""

    @property
    def root(self) -> str:
        """The URI of the warehouse."""
        if not self.warehouse or "://" in self.warehouse:
            return as_s3(self.warehouse)
        return f"file://{os.path.abspath(self.warehouse)}"

    @property
    def database(self) -> Path | None:
        """The file of the embedded catalog: in a local warehouse; for an object store on this machine."""
        if self.catalog:
            return None
        if self.root.startswith("file://"):
            return Path(self.root.removeprefix("file://"), FILE)
        return Path(data_folder("iceberg"), f"{sha256(self.root.encode()).hexdigest()[:16]}.db")

    @property
    def known(self) -> bool:
        """Whether there may be tables: an embedded catalog is created by the first write."""
        return self.database is None or self.database.exists()

    def opened(self) -> Catalog:
        """Open the catalog. Raises UsageError for a name that is not configured, KcliError if it cannot be reached."""
        check()
        from pyiceberg.catalog import load_catalog

        database = self.database
        with told(str(database or self.catalog)):
            if database is not None:
                database.parent.mkdir(parents=True, exist_ok=True)
                here = storage_here()
                store = {"s3.endpoint": here.endpoint, "s3.region": here.region}
                known = {name: value for name, value in store.items() if value}
                return load_catalog(
                    NAME, type="sql", uri=f"sqlite:///{database}", warehouse=self.root, **known, **PATIENT
                )
            if "://" in self.catalog:
                more = {"warehouse": self.root} if self.warehouse else {}
                return load_catalog(NAME, type="rest", uri=self.catalog, **more, **PATIENT)
            return self._named()

    def _named(self) -> Catalog:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.utils.config import Config

        if not Config().get_catalog_config(self.catalog):
            raise UsageError(
                f"catalog {self.catalog}: pyiceberg is not configured for it; it reads ~/.pyiceberg.yaml and "
                f"PYICEBERG_CATALOG__{self.catalog.upper()}__URI"
            ).hinted(OPTION)
        return load_catalog(self.catalog)


def place_of(warehouse: str | None, catalog: str | None) -> CatalogPlace:
    """Return the place for a warehouse and a catalog. Raises UsageError."""
    place = CatalogPlace(warehouse=warehouse or "", catalog=catalog or "")
    if not warehouse and not catalog:
        raise UsageError(
            "an Iceberg table requires a warehouse (a folder, or s3://…) or a catalog (its URL, or its name in "
            "pyiceberg)"
        ).hinted("warehouse")
    if "://" in place.warehouse and not in_s3(place.warehouse) and not catalog:
        wrong = UsageError(f"warehouse {warehouse}: expected a folder on this machine, or s3://BUCKET/PATH")
        raise wrong.hinted(OPTION)
    if any(sign in place.root for sign in "?#%"):
        wrong = UsageError(f"warehouse {warehouse}: Iceberg locations are URIs; use a path without ?, # and %")
        raise wrong.hinted(OPTION)
    return place


def check() -> None:
    """Raise UsageError unless the package is installed."""
    try:
        import pyiceberg  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError:
        raise UsageError('Iceberg tables need an extra package: pip install "kcli-kafka[iceberg]"') from None


@contextmanager
def told(what: str) -> Iterator[None]:
    """Convert errors of pyiceberg and its packages to a sentence about `what`. Raises ConnectError if a catalog cannot
    be reached, or rejects the credentials."""
    from pyiceberg.exceptions import ForbiddenError, OAuthError, RESTError, UnauthorizedError
    from requests import RequestException
    from requests.exceptions import ConnectionError as Unreached
    from requests.exceptions import Timeout
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except KcliError:
        raise
    except (UnauthorizedError, ForbiddenError, OAuthError) as problem:
        raise ConnectError(
            f"{what}: the catalog refuses the credentials ({first_of(problem)}); for a URL, set "
            "PYICEBERG_CATALOG__KCLI__TOKEN or __CREDENTIAL; for a NAME, change the pyiceberg configuration of "
            "the catalog"
        ) from problem
    except (Unreached, Timeout) as problem:
        raise ConnectError(f"{what}: the catalog cannot be reached ({_reason(problem)})") from problem
    except (RESTError, RequestException, SQLAlchemyError, OSError, ValueError) as problem:
        raise KcliError(f"{what}: {first_of(problem)}") from problem


@contextmanager
def refused(label: str) -> Iterator[None]:
    """Convert errors of a commit: NotCommitted if it is certainly not in the table, else KcliError."""
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError, ValidationException

    try:
        with told(label):
            yield
    except (CommitFailedException, ValidationException, TableAlreadyExistsError) as problem:
        if isinstance(problem.__cause__, KcliError):
            raise problem.__cause__ from problem
        raise NotCommitted(
            f"{label}: another writer changed the table during every attempt ({first_of(problem)}); nothing was "
            "committed: run it again"
        ) from problem


def sent(transaction: Transaction, label: str) -> Table:
    """Commit a change of a table; return the updated table. Raises KcliError if the catalog does not respond, because
    it may have executed it."""
    from pyiceberg.exceptions import CommitStateUnknownException
    from requests import RequestException

    try:
        return transaction.commit_transaction()
    except (CommitStateUnknownException, RequestException) as problem:
        raise KcliError(
            f"{label}: the catalog did not confirm whether the rows are in the table ({first_of(problem)}); if "
            "this was a stream, run it again: it detects which records the table has; if it was a batch, check "
            "the table before you run it again"
        ) from problem


def first_of(problem: BaseException) -> str:
    """Return the first line of an error."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__


def _reason(problem: BaseException) -> str:
    """Return the underlying error inside the wrappers of each package."""
    deeper: BaseException | None = problem
    while deeper is not None:
        if isinstance(deeper, OSError) and deeper.strerror:
            return deeper.strerror
        deeper = deeper.__cause__ or deeper.__context__
    return type(problem).__name__
