"""Starts the programs of a run, one after the other, from a process so small that it adds nothing to their peak memory.

The peak of a process begins at that of the one it was forked from. Run with `python -I -S`; a line in is a JSON object
with `argv`, `env`, `stdin` and `stderr`, the lines out are the process id and [wall, CPU, peak KiB, exit code].
"""

import json
import os
import sys
from time import perf_counter

for order in sys.stdin:
    wanted = json.loads(order)
    begin = perf_counter()
    pid = os.posix_spawnp(
        wanted["argv"][0],
        wanted["argv"],
        wanted["env"],
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, wanted["stdin"], os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, wanted["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ],
    )
    print(pid, flush=True)
    _, status, usage = os.wait4(pid, 0)
    wall = perf_counter() - begin
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, code]), flush=True)
