"""Where a table's files lie: a folder of this machine, or a bucket of an object store that speaks S3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.pipeline.pickling import Carried

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


class Storage(Carried):
    """The store of a table, for the driver and for tasks. Credentials are those of AWS's usual chain, of each process:
    environment, profile, role. `endpoint` and `region` are of no secret."""

    endpoint: str = ""
    region: str = ""

    def opened(self, uri: str) -> tuple[FileSystem, str]:
        """Arrow's file system of a URI, and the path in it. Raises KcliError for a kind of store that is not known."""
        from pyarrow import fs

        kind, _, path = uri.partition("://")
        if kind == "file":
            return fs.LocalFileSystem(), path
        if kind in ("s3", "s3a"):
            options = {"endpoint_override": self.endpoint, "region": self.region}
            return fs.S3FileSystem(**{name: value for name, value in options.items() if value}), path
        raise KcliError(f"{uri}: files of a table lie in a folder of this machine, or in s3://BUCKET/PATH")

    def clear(self, folder: str) -> int:
        """Delete a folder with its files; how many files there were. One that is not there is no error."""
        from pyarrow.fs import FileSelector, FileType

        system, path = self.opened(folder)
        found = system.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
        files: int = sum(one.type == FileType.File for one in found)
        if found or system.get_file_info(path).type == FileType.Directory:
            system.delete_dir(path)
        return files

    def keep(self, folder: str, paths: set[str]) -> None:
        """Delete what is in a folder and is none of these files (URIs): those of tasks that ran again."""
        from pyarrow.fs import FileSelector, FileType

        system, path = self.opened(folder)
        kept = {self.opened(one)[1] for one in paths}
        for one in system.get_file_info(FileSelector(path, recursive=True, allow_not_found=True)):
            if one.type == FileType.File and one.path not in kept:
                system.delete_file(one.path)
