"""A run of kcli that counts where it is at each millisecond of its own CPU: `python benchmarks/sampled.py FILE WORDS…`.

FILE gets a JSON object: `layers` and `functions` to the number of samples. A sample counts for the function of Python
that runs, with the C code that it calls, or for start-up where an import is under way.
"""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from types import FrameType

EVERY = 0.001  # seconds of CPU
STARTUP = "start-up"
LOOP = "event loop and sockets"
layers: Counter[str] = Counter()
functions: Counter[str] = Counter()


def place(file: str) -> tuple[str, str]:
    """A file's layer and its short name."""
    _, found, inside = file.rpartition("/kcli/")
    if found:
        return f"kcli/{inside.split('/')[0]}", f"kcli/{inside}"
    _, found, inside = file.rpartition("/asyncio/")
    if found or file.endswith("/selectors.py"):
        return LOOP, f"asyncio/{inside}" if found else "selectors.py"
    return "other libraries", "/".join(file.split("/")[-2:])


def importing(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib")


def count(_: int, frame: FrameType | None) -> None:
    """A sample."""
    while frame is not None and frame.f_code.co_filename.startswith("<") and not importing(frame):
        frame = frame.f_back  # code that was made, such as that of a message: it is its caller's
    if frame is None:
        return
    layer, file = place(frame.f_code.co_filename)
    name = f"{frame.f_code.co_qualname} ({file})"
    outer: FrameType | None = frame
    while outer is not None:
        if importing(outer):
            layer = name = STARTUP
            break
        outer = outer.f_back
    layers[layer] += 1
    functions[name] += 1


def main() -> int:
    target = sys.argv[1]
    sys.argv[:] = ["kcli", *sys.argv[2:]]
    signal.signal(signal.SIGPROF, count)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    from kcli.cli.main import main as kcli

    code = kcli()
    signal.setitimer(signal.ITIMER_PROF, 0)
    with open(target, "w") as out:
        json.dump({"layers": layers, "functions": functions}, out)
    return code


if __name__ == "__main__":
    sys.exit(main())
