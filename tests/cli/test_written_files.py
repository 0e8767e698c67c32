"""Every option that writes a file by its name: whole or not at all, never through a link, never over a file unasked."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.admin.groups.rows import Described
from kcli.cli.main import main
from kcli.cli.parsing.registry import every
from kcli.lag.figures import Sample
from kcli.lag.formats import recording
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.sandbox.thread import SandboxThread
from kcli.system import files
from tests.each import each

FILE_METAVARS = ("FILE", "FOLDER", "DIR", "PATH")
READ = {
    "-F", "--client-ca", "--users", "--file", "--from-file", "--replay", "--password-file", "--reassignment-json-file",
    "--python", "--java-home", "--from",
}  # fmt: skip
OTHERWISE = {
    "--trace-file": "appends",
    "--metrics": "appends",
    "--data": "a sandbox's own folder",
    "--tls": "a sandbox's own folder",
    "--out": "a table or a folder of data files, with a commit of its own",
    "--warehouse": "as --out",
    "--quarantine": "as --out",
    "--checkpoint": "a folder of the pipeline",
    "--stop-file": "is looked for",
    "--to": "changes a configuration in place, and keeps what was there; or a directory of a broker",
}
FORCED = {
    ("lag", "--html"): "lag --replay recording --html FILE",
    ("reassign plan", "--save"): "reassign plan t --save FILE",
    ("produce", "--report"): "produce t --value x --report FILE",
    ("registry export", "FILE"): "registry export FILE.yaml --schema-registry file:schemas",
}
"""What writes a file, and a line that does it."""
NEVER = {
    ("configs set", "--undo-file"): "configs set topic t retention.ms=1000 --execute --undo-file FILE",
    ("tokens create", "--hmac-file"): "tokens create --hmac-file FILE",
}
"""What never overwrites one."""
WITH_SPARK = {("pipeline profile", "--html")}


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, topics={"t": 3}) as sandbox:
        yield sandbox


@pytest.fixture
def run(
    cluster: SandboxThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    monkeypatch.setenv("KCLI_BOOTSTRAP", cluster.bootstrap)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    sample = Sample(group="g", topic="t", committed=1, end=2, start=0)
    seen = Snapshot(groups=[GroupSnapshot(described=Described(group="g"), samples=[sample])])
    (tmp_path / "recording").write_text(recording.line(1.0, seen))
    (tmp_path / "schemas/ids").mkdir(parents=True)
    (tmp_path / "schemas/subjects/a").mkdir(parents=True)
    (tmp_path / "schemas/ids/1.avsc").write_text('"int"')
    (tmp_path / "schemas/subjects/a/1.avsc").write_text('"int"')

    def ran(line: str, *more: str) -> tuple[int, str]:
        code = main([*line.replace("FILE", "written").split(), *more])
        return code, capsys.readouterr().err

    return ran


def target(line: str, folder: Path) -> Path:
    return folder / ("written.yaml" if "FILE.yaml" in line else "written")


def test_every_option_with_a_file_is_known_here() -> None:
    found = set()
    for path, command in every():
        for option in command.options:
            named = (option.metavar or "").partition("|")[0] in FILE_METAVARS
            if named and not READ & set(option.flags) and not OTHERWISE.keys() & set(option.flags):
                found.add((path, option.flags[0]))
    undo = {(path, flag) for path, flag in found if flag == "--undo-file"}
    known = FORCED.keys() | NEVER.keys() | WITH_SPARK
    assert found - undo == {(path, flag) for path, flag in known if flag not in ("--undo-file", "FILE")}
    for path, command in every():
        forced = (path, "--html") in WITH_SPARK or any(path == one for one, _ in FORCED)
        assert not forced or "--force" in command.by_flag, path


@each("key", list(FORCED | NEVER))
def test_a_file_that_exists_is_refused_and_left(key: tuple[str, str], run: Callable[..., tuple[int, str]]) -> None:
    line = (FORCED | NEVER)[key]
    path = target(line, Path.cwd())
    path.write_text("mine")
    code, said = run(line)
    assert (code, path.read_text()) == (2, "mine")
    way = "--force overwrites it" if key in FORCED else "choose a new one"
    assert f"{path.name}: the file exists; {way}" in said
    path.unlink()


@each("key", list(FORCED))
def test_force_replaces_a_file_and_keeps_no_part(key: tuple[str, str], run: Callable[..., tuple[int, str]]) -> None:
    line = FORCED[key]
    path = target(line, Path.cwd())
    path.write_text("mine")
    before = path.stat().st_ino
    code, said = run(line, "--force")
    assert code == 0, said
    assert "mine" not in path.read_text()
    assert path.stat().st_ino != before, "it was written in place"
    assert path.stat().st_size
    assert not list(Path.cwd().glob("*.part"))
    path.unlink()


@each("key", list(FORCED | NEVER))
@pytest.mark.parametrize("force", [False, True])
def test_a_link_is_never_followed(key: tuple[str, str], force: bool, run: Callable[..., tuple[int, str]]) -> None:
    line = (FORCED | NEVER)[key]
    path, precious = target(line, Path.cwd()), Path("precious")
    precious.write_text("mine")
    for aim in (precious, Path("nowhere")):
        path.symlink_to(aim)
        code, said = run(line, *(["--force"] if force and key in FORCED else []))
        assert code == 2, said
        assert "it is a symbolic link; name the file itself" in said
        assert precious.read_text() == "mine"
        assert not Path("nowhere").exists()
        path.unlink()


def test_an_export_to_a_folder_leaves_what_is_there_already(run: Callable[..., tuple[int, str]]) -> None:
    line = "registry export out --schema-registry file:schemas"
    assert run(line)[0] == 0
    assert run(line)[0] == 0
    changed = Path("out/subjects/a/1.avsc")
    changed.write_text('"long"')
    code, said = run(line)
    assert (code, changed.read_text()) == (2, '"long"')
    assert "out/subjects/a/1.avsc: the file exists; --force overwrites it" in said
    assert run(line, "--force")[0] == 0
    assert changed.read_text() == '"int"'
    Path("precious").write_text('"int"')
    changed.unlink()
    changed.symlink_to(Path("precious").absolute())
    assert run(line, "--force")[0] == 2


# -- the helper --------------------------------------------------------------------------------------------------------


def test_nobody_sees_a_part_of_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with files.new_file(str(path), mode=0o600) as out:
        out.write(b"all")
        out.flush()
        assert not path.exists()
    assert path.read_bytes() == b"all"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def half() -> None:
        with files.new_file(str(path), replace=True) as out:
            out.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert path.read_bytes() == b"all"
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_left(links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not links:  # a file system that has none

        def link(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", link)
        with files.new_file(str(tmp_path / "other")) as out:
            out.write(b"all")
        assert (tmp_path / "other").read_bytes() == b"all"
    path = tmp_path / "new"

    def late() -> None:
        with files.new_file(str(path)) as out:
            out.write(b"ours")
            path.write_text("theirs")

    with pytest.raises(FileExistsError):
        late()
    assert path.read_text() == "theirs"
    assert not list(tmp_path.glob("*.part"))


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with files.new_file(str(pipe)) as out:
        out.write(b"all")
    assert os.read(reader, 10) == b"all"
    os.close(reader)
    with files.new_file("/dev/null") as out:
        out.write(b"all")
