# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: what the BPF programs do if more requests are open than the map of requests can hold, and which numbers requests
get. The test reads the records and counters of the programs with the reader `observe`."""

import os
import subprocess
import sys

from observed import HERE, KIT, Observer, library

LAUNCH, BEGAN = 1, 403  # kinds of records
NO_MEMORY, REQUESTS_BEGAN, REQUESTS_ENDED = 521, 620, 621  # counters
NUMBER_CPU = 1023  # the bits of a request's number that contain the CPU


def full(report):
    """Opens 16 requests at once, three times, while the map has room for 8. Checks that each time, the first 8 requests are traced with
    all their calls, and that the other 8 are counted as refused and have no calls."""
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
    launches = sorted((e.amount, int(e.trace, 16)) for e in observer.events if e.kind == LAUNCH)
    began, ended, refused = (observer.counters.get(index, 0) for index in (REQUESTS_BEGAN, REQUESTS_ENDED, NO_MEMORY))
    report("room for requests", launches == [(n, n) for n in range(1, 9) for _ in range(3)]
           and began == ended == refused == 24 and not observer.open_requests,
           f"48 requests, room for 8 at a time: {began} began, {ended} ended, {refused} were refused, {observer.open_requests} are open; "
           f"{len(launches)} calls reported")


def numbers(report, events):
    """Checks the number of each request, which the programs make from the time in nanoseconds; its lowest 10 bits contain the CPU instead.
    The numbers must be unique. The time in a number must be that of the request's beginning, or at most 3 us later."""
    began = [e for e in events if e.kind == BEGAN]
    late = [(e.owner & ~NUMBER_CPU) - (e.start & ~NUMBER_CPU) for e in began]
    report("numbers of requests", len(began) > 100 and len({e.owner for e in began}) == len(began)
           and all(0 <= each <= 3 * (NUMBER_CPU + 1) for each in late),
           f"{len(began)} requests, {len({e.owner for e in began})} different numbers, at most {max(late, default=-1)} ns after their "
           "beginnings")
