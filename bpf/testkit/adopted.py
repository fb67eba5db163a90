# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: the calls of an adopted process and of its child processes. The reader `observe` has adopted the process, that
is, calls of its process tree belong to the process unless they belong to a request."""

import os
import subprocess
import sys

from observed import HERE, KIT, Observer, library

LAUNCH, BEGAN, ENDED, PROCESS = 1, 403, 404, 3
ADOPTED, REPORTED, HTTP = "5" * 32, "1" * 32, "3" * 32  # trace ids


def started():
    process = subprocess.Popen([sys.executable, os.path.join(HERE, "tree.py"), KIT],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def command(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    process.stdout.readline()


def adopted(report):
    """Checks that calls of the process tree belong to the adopted process unless they are in a request, and that the adoption ends with
    the tree's last process."""
    process, other = started(), started()
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/libinferspan_ckp.so", f"adopt={process.pid}") as observer:
        command(process, "tree")
        command(other, "9")
        process.stdin.close()
        process.wait(10)
        command(other, "10")
    other.stdin.close()
    other.wait(10)
    launches = {e.amount: e.trace for e in observer.events if e.kind == LAUNCH}
    # tree.py makes launch 6 in an unsampled request, so it must not be reported.
    wanted = {1: ADOPTED, 2: ADOPTED, 3: ADOPTED, 4: ADOPTED, 5: REPORTED, 7: HTTP, 8: ADOPTED}
    ends = [(e.kind, e.result) for e in observer.events if e.trace == ADOPTED and e.kind in (BEGAN, ENDED)]
    report("adopted process", launches == wanted and ends == [(BEGAN, PROCESS), (ENDED, PROCESS)],
           f"{len(launches)} calls of a process tree and of requests in it" + ("" if launches == wanted else f": {launches}")
           + f"; announcements (kind, kind of owner): {ends}")
