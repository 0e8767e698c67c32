"""The code of modules is kept in one file, is never stale, and is not needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.cli.module_cache import FORMAT, PATH

COUNT = 9  # more than WORTH
PROCESS = """
import sys
sys.dont_write_bytecode = "-B" in sys.argv
import kcli
kcli.__path__.insert(0, sys.argv[1])  # kcli.sample is there
from kcli.cli.module_cache import ModuleCache
cache = ModuleCache(sys.argv[2])
sys.meta_path.insert(0, cache)
from kcli.sample import part1, part2
loader = type(part1.__spec__.loader).__name__
print(loader, part1.VALUE, part2.VALUE, part1.__file__ == part1.__spec__.origin, sys.modules["kcli.sample"].__path__)
cache.extend()
if "-i" in sys.argv:
    import inspect
    print(inspect.getsource(part1.function), end="")
"""

pytestmark = pytest.mark.process


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """`kcli.sample`: part1 imports the others."""
    sample = tmp_path / "source" / "sample"
    sample.mkdir(parents=True)
    (sample / "__init__.py").write_text('"""A package."""\n')
    for number in range(2, COUNT):
        (sample / f"part{number}.py").write_text(f"VALUE = {number}\n")
    imports = "".join(f"from kcli.sample import part{number}\n" for number in range(2, COUNT))
    (sample / "part1.py").write_text(f"{imports}VALUE = 1\n\n\ndef function() -> int:\n    return VALUE\n")
    return sample


def run(package: Path, *options: str) -> str:
    """What a new process prints that imports the package by the cache and keeps it."""
    words = [sys.executable, "-c", PROCESS, str(package.parent), str(kept(package)), *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kept(package: Path) -> Path:
    return package.parent.parent / "modules.code"


def test_the_second_process_takes_modules_from_the_file(package: Path) -> None:
    paths = [str(package)]
    assert run(package) == f"SourceFileLoader 1 2 True {paths}\n"
    assert run(package) == f"KeptLoader 1 2 True {paths}\n"
    written = kept(package).stat()
    assert run(package) == f"KeptLoader 1 2 True {paths}\n"
    assert kept(package).stat().st_ino == written.st_ino  # nothing was new, so nothing was written


def test_the_source_of_a_kept_module_is_found(package: Path) -> None:
    run(package)
    assert run(package, "-i").endswith("def function() -> int:\n    return VALUE\n")


def test_a_source_that_changed_is_read_again(package: Path) -> None:
    run(package)
    source = package / "part2.py"
    status = source.stat()
    source.write_text("VALUE = 5\n")  # as many bytes
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))
    assert run(package).startswith("KeptLoader 1 5 ")
    source.write_text("VALUE = 77\n")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))  # another size
    assert run(package).startswith("KeptLoader 1 77 ")


def test_a_module_that_changed_is_kept_again_with_enough_others(package: Path) -> None:
    run(package)
    for number in range(2, COUNT):
        (package / f"part{number}.py").write_text(f"VALUE = {number * 100}\n")
    os.truncate(package / "__init__.py", 0)
    assert run(package).startswith("KeptLoader 1 200 ")
    before = kept(package).stat().st_ino
    assert run(package).startswith("KeptLoader 1 200 ")
    assert kept(package).stat().st_ino == before


@pytest.mark.parametrize("part", [0.0, 0.01, 0.1, 0.5, 0.9, 0.99])
def test_a_torn_file_does_no_harm(package: Path, part: float) -> None:
    """In its head, in its index, in the code."""
    run(package)
    os.truncate(kept(package), int(kept(package).stat().st_size * part))
    assert run(package).split(maxsplit=1)[1].startswith("1 2 True")


def test_a_module_that_is_gone_is_kept_no_longer(package: Path) -> None:
    (package / "part10.py").write_text("VALUE = 10\n")
    main = package / "part1.py"
    text = main.read_text()
    main.write_text(f"from kcli.sample import part10\n{text}")
    run(package)
    assert b"part10" in kept(package).read_bytes()
    (package / "part10.py").unlink()
    main.write_text(text)
    for number in range(2, COUNT):
        (package / f"part{number}.py").write_text(f"VALUE = {number}  # changed\n")
    run(package)
    assert b"part10" not in kept(package).read_bytes()


def test_a_package_at_another_place_has_its_own_code(package: Path, tmp_path: Path) -> None:
    run(package)
    elsewhere = package.parent.parent / "elsewhere" / "sample"
    elsewhere.parent.mkdir()
    package.rename(elsewhere)
    assert run(elsewhere).startswith("SourceFileLoader 1 2 ")


def test_nothing_is_written_when_python_writes_no_bytecode(package: Path) -> None:
    run(package, "-B")
    assert not kept(package).exists()


def test_a_folder_that_is_not_there_does_no_harm(package: Path) -> None:
    for _ in range(2):
        words = [sys.executable, "-c", PROCESS, str(package.parent), str(package / "absent" / "modules.code")]
        assert subprocess.check_output(words, text=True, timeout=60).startswith("SourceFileLoader 1 2 ")


def test_a_closed_standard_file_keeps_its_number_free() -> None:
    line = "import sys; from kcli.cli.module_cache import install; print(install(), len(sys.meta_path))"
    plain = subprocess.check_output([sys.executable, "-c", "import sys; print(len(sys.meta_path))"], text=True)
    shell = ["sh", "-c", 'exec "$0" -c "$1" <&-', sys.executable, line]
    assert subprocess.check_output(shell, text=True, timeout=60) == f"None {plain}"


LIBRARY = """
import colorsys, {compiled}
print(type(colorsys.__spec__.loader).__name__, type({compiled}.__spec__.loader).__name__)
"""
COMPILED = next(name for name in ("_lsprof", "_zoneinfo", "_posixshmem") if name not in sys.builtin_module_names)


def test_modules_of_the_standard_library_are_kept_and_the_places_of_compiled_ones(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (package / "part2.py").write_text(f"VALUE = 2\n{LIBRARY.format(compiled=COMPILED)}")
    assert run(package).startswith("SourceFileLoader ExtensionFileLoader\n")
    assert run(package).startswith("KeptLoader KeptExtension\n")
    written = kept(package).stat().st_ino
    assert run(package).startswith("KeptLoader KeptExtension\n")
    assert kept(package).stat().st_ino == written  # what is found by its place is not new


def test_a_module_without_a_spec_is_left_out(package: Path) -> None:
    """As `typing.io` of Python 3.11 is."""
    (package / "part2.py").write_text("VALUE = 2\nimport sys\nsys.modules['bare'] = type('bare', (), {})\n")
    run(package)
    assert run(package).startswith("KeptLoader 1 2 ")


def test_the_file_of_another_format_has_another_name() -> None:
    assert PATH.endswith(f"-{FORMAT}.code")


def test_a_module_of_pythonpath_is_before_one_of_the_standard_library(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "part2.py").write_text("VALUE = 2\nimport colorsys\nprint(colorsys.__file__)\n")
    run(package)
    (tmp_path / "colorsys.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert run(package).startswith(f"{tmp_path}/colorsys.py\n")


@pytest.mark.parametrize("option", ["", "-O"])
def test_a_kept_module_names_its_bytecode_as_python_does(package: Path, option: str) -> None:
    (package / "part2.py").write_text(
        "VALUE = 2\nfrom importlib.util import cache_from_source\nimport colorsys, kcli.sample as package, sys\n"
        "print(*(module.__cached__ == cache_from_source(module.__file__) for module in "
        "(colorsys, package, sys.modules[__name__])))\n"
    )
    for _ in range(2):
        words = [sys.executable, *option.split(), "-c", PROCESS, str(package.parent), str(kept(package))]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        assert subprocess.check_output(words, text=True, timeout=60, env=environment).startswith("True True True\n")


@pytest.mark.parametrize("path", ["", "PYTHONPATH"])
def test_a_command_uses_it(path: str, tmp_path: Path) -> None:
    """The console script finds the modules of a command in the file, answers as before, and writes it no third time."""
    line = (
        "import sys; from kcli.cli.main import console; import kcli.cli.module_cache as m\n"
        f"m.ModuleCache.__init__.__defaults__ = ({str(tmp_path / 'modules.code')!r},)\n"
        "sys.argv = ['kcli', 'topics', 'list', '--help-json']\n"
        "console()\n"
    )
    names = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    if path:
        environment[path] = str(tmp_path)
    said = [subprocess.check_output([sys.executable, "-c", line], env=environment, timeout=60) for _ in range(2)]
    assert said[0] == said[1] != b""
    written = (tmp_path / "modules.code").stat()
    subprocess.check_call([sys.executable, "-c", line], stdout=subprocess.DEVNULL, env=environment, timeout=60)
    assert (tmp_path / "modules.code").stat().st_ino == written.st_ino
    assert (tmp_path / "modules.code").stat().st_size > 10_000
