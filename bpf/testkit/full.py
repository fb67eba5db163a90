# SPDX-License-Identifier: Apache-2.0
"""Part of `check`: more open requests than the map can hold, and the numbers of requests."""

import os
import subprocess
import sys

from observed import HERE, KIT, Observer, library

BEGAN = 403
NUMBERS_CPU = 1023


def full(report):
    """Requests beyond the limit get no context and are counted; earlier requests keep theirs."""
    program = (
        "import ctypes, os, sys, threading; sys.path.insert(0, sys.argv[2]); from inferspan_ckp import Ckp\n"
        "driver = ctypes.CDLL(sys.argv[1] + '/libcuda.so.1'); ckp = Ckp(sys.argv[1] + '/libinferspan_ckp.so')\n"
        "turns = [threading.Event() for _ in range(17)]; end = threading.Barrier(16)\n"
        "def work(i):\n"
        "    turns[i].wait()\n"
        "    with ckp.request(f'00-{i + 1:032x}-{i + 1:016x}-01'):\n"
        "        turns[i + 1].set(); end.wait()\n"
        "        driver.cuLaunchKernel(None, i + 1, 1, 1, 1, 1, 1, 0, None, None, None); end.wait()\n"
        "threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]\n"
        "[thread.start() for thread in threads]; turns[0].set(); [thread.join() for thread in threads]\n"
    )
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/libinferspan_ckp.so", "flags=a1", "requests=8") as observer:
        for _ in range(3):
            subprocess.run([sys.executable, "-c", program, KIT, os.path.join(HERE, "..", "ckp")], check=True, timeout=30)
    launches = sorted((e.amount, int(e.trace, 16)) for e in observer.events if e.kind == 1)
    began, ended, refused = (observer.counters.get(index, 0) for index in (620, 621, 521))
    report("room for requests", launches == [(n, n) for n in range(1, 9) for _ in range(3)]
           and began == ended == refused == 24 and not observer.living,
           f"48 requests, room for 8: {began} began, {ended} ended, {refused} were refused, {observer.living} did not end; "
           f"{len(launches)} calls under their requests")


def numbers(report, events):
    """A request's number is the time of its beginning, except the last bits, and is unique."""
    began = [e for e in events if e.kind == BEGAN]
    late = [(e.owner & ~NUMBERS_CPU) - (e.start & ~NUMBERS_CPU) for e in began]
    report("numbers of requests", len(began) > 100 and len({e.owner for e in began}) == len(began)
           and all(0 <= each <= 3 * (NUMBERS_CPU + 1) for each in late),
           f"{len(began)} requests, {len({e.owner for e in began})} numbers, at most {max(late, default=-1)} ns behind their time")
