# SPDX-License-Identifier: Apache-2.0
"""Part of `check`: an adopted process, its children, and the requests that they serve, which keep their own spans."""

import os
import subprocess
import sys

from observed import HERE, KIT, Observer, library

LAUNCH, BEGAN, ENDED, PROCESS = 1, 403, 404, 3
OURS, TOLD, HTTP = "5" * 32, "1" * 32, "3" * 32


def started():
    process = subprocess.Popen([sys.executable, os.path.join(HERE, "tree.py"), KIT],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    process.stdout.readline()


def adopted(report):
    """Calls of the process tree outside requests belong to the adopted process. The adoption ends when the tree's last process ends."""
    process, other = started(), started()
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/libinferspan_ckp.so", f"adopt={process.pid}") as observer:
        say(process, "tree")
        say(other, "9")
        process.stdin.close()
        process.wait(10)
        say(other, "10")
    other.stdin.close()
    other.wait(10)
    launches = {e.amount: e.trace for e in observer.events if e.kind == LAUNCH}
    wanted = {1: OURS, 2: OURS, 3: OURS, 4: OURS, 5: TOLD, 7: HTTP, 8: OURS}
    ends = [(e.kind, e.result) for e in observer.events if e.trace == OURS and e.kind in (BEGAN, ENDED)]
    report("adopted process", launches == wanted and ends == [(BEGAN, PROCESS), (ENDED, PROCESS)],
           f"{len(launches)} calls of a process tree and of requests in it, none of other processes"
           + ("" if launches == wanted else f": {launches}") + f"; {ends}")
