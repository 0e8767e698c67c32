"""Storage of a table's files: a local folder, or a bucket of an S3 object store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from typing import TYPE_CHECKING

from kcli.errors import KcliError, UsageError
from kcli.pipeline.pickling import Carried

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem, S3RetryStrategy

ATTEMPTS = 10
"""For a request to a store that responds with 500 or 503."""


def in_s3(uri: str) -> bool:
    """Whether a place is in S3, with either of its two schemes."""
    return uri.startswith(("s3://", "s3a://"))


def as_s3a(uri: str) -> str:
    """Return a URI in Spark's form, with the scheme s3a of Hadoop and without trailing slashes, so that a place has one
    name."""
    return _bare(uri.replace("s3://", "s3a://", 1))


def as_s3(uri: str) -> str:
    """Return a URI in the form of deltalake and pyiceberg, without trailing slashes."""
    return _bare(uri.replace("s3a://", "s3://", 1))


def _bare(uri: str) -> str:
    bare = uri.rstrip("/")
    return uri if bare.endswith(":") else bare  # hdfs:/// is the root of the default file system


class Storage(Carried):
    """The store of a table, for the driver and for tasks. Each process uses AWS's default credentials: environment,
    profile, role. `endpoint` and `region` are not secret."""

    endpoint: str = ""
    region: str = ""

    def opened(self, uri: str) -> tuple[FileSystem, str]:
        """Return Arrow's file system for a URI, and the path in it. Raises KcliError for another kind of store."""
        from pyarrow import fs

        kind, _, path = uri.partition("://")
        if kind == "file":
            return fs.LocalFileSystem(), path
        if kind in ("s3", "s3a"):
            options = {"endpoint_override": self.endpoint, "region": self.region}
            given = {name: value for name, value in options.items() if value}
            return fs.S3FileSystem(retry_strategy=patient(), **given), path
        raise UsageError(f"{uri}: a table needs a folder on this machine, or s3://BUCKET/PATH")

    def check(self, uri: str) -> None:
        """Raise KcliError unless the bucket of a URI exists and can be listed."""
        from pyarrow.fs import FileSelector, FileType

        system, path = self.opened(uri)
        bucket = path.split("/", 1)[0]
        with told(uri):
            if system.get_file_info(bucket).type == FileType.NotFound:
                raise KcliError(
                    f"{uri}: the bucket {bucket} does not exist, or the credentials do not allow access to it"
                )
            system.get_file_info(FileSelector(path, allow_not_found=True))

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, not in its subfolders; empty without the folder."""
        from pyarrow.fs import FileSelector, FileType

        system, path = self.opened(folder)
        with told(folder):
            found = system.get_file_info(FileSelector(path, allow_not_found=True))
        return sorted(one.base_name for one in found if one.type == FileType.File)

    def write(self, uri: str, data: bytes) -> None:
        """Write a small file."""
        system, path = self.opened(uri)
        with told(uri):
            system.create_dir(path.rpartition("/")[0], recursive=True)
            with system.open_output_stream(path) as out:
                out.write(data)

    def read(self, uri: str, most: int = 4096) -> bytes:
        """Read the first bytes of a small file; empty if it no longer exists."""
        system, path = self.opened(uri)
        with told(uri):
            try:
                with system.open_input_stream(path) as file:
                    data: bytes = file.read(most)
                    return data
            except FileNotFoundError:
                return b""

    def delete(self, uri: str) -> None:
        """Delete a file; a missing one is not an error."""
        from pyarrow.fs import FileType

        system, path = self.opened(uri)
        with told(uri):
            if system.get_file_info(path).type == FileType.File:
                system.delete_file(path)

    def files(self, folder: str) -> list[tuple[str, float]]:
        """Return the files below a folder: the URI of each, and when it was written, in seconds since 1970."""
        from pyarrow.fs import FileSelector, FileType

        system, path = self.opened(folder)
        above = folder.removesuffix(path)
        with told(folder):
            found = system.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
        return [(above + one.path, one.mtime_ns / 1e9) for one in found if one.type == FileType.File]


def patient() -> S3RetryStrategy:
    """Return the retry strategy: Arrow's three attempts are too few for a store that throttles."""
    from pyarrow.fs import AwsStandardS3RetryStrategy

    return AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS)


def storage_here() -> Storage:
    """Return the store in this process's environment: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION."""
    name = os.environ.get
    return Storage(
        endpoint=name("AWS_ENDPOINT_URL_S3") or name("AWS_ENDPOINT_URL") or "",
        region=name("AWS_REGION") or name("AWS_DEFAULT_REGION") or "",
    )


def delta_options() -> dict[str, str]:
    """Return the same for deltalake, which finds credentials in the environment itself."""
    here = storage_here()
    options = {"aws_endpoint": here.endpoint, "aws_region": here.region}
    if here.endpoint.startswith("http://"):
        options["aws_allow_http"] = "true"
    return {key: value for key, value in options.items() if value}


@contextmanager
def told(place: str) -> Iterator[None]:
    """Convert errors of a store to a sentence about a place."""
    try:
        yield
    except OSError as problem:
        text = str(problem)
        if problem.errno == ENOSPC:  # Arrow's text begins with what it did
            raise KcliError(f"{place}: {os.strerror(ENOSPC)}") from problem
        refused = ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE", "INVALID_CLIENT_TOKEN", "HTTP response 403")
        if any(word in text for word in refused):
            raise KcliError(
                f"{place}: the store rejected the credentials, which come from AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, the profile of AWS_PROFILE, or the role of the machine"
            ) from problem
        raise KcliError(f"{place}: {text.splitlines()[0] if text else type(problem).__name__}") from problem
