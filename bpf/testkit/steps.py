# SPDX-License-Identifier: Apache-2.0
"""Part of `check`: the steps that an engine reports, and the calls in each step."""

import ctypes
import os
import subprocess
import sys
import threading

from observed import KIT, Observer, library

LAUNCH, GRAPH, EVENT_SYNC, RECORD, BEGAN, ENDED, BOUND, CHANGES, STEP, CKP = 1, 2, 11, 16, 403, 404, 405, 406, 2, 4
SIZES = 0, 1, 16, 17, 1000, 4096, 5000  # how many changes each step reports: requests that join it or leave it
UNCOUNTED, TRACEPARENT = 2**64 - 1, "00-" + "6" * 32 + "-" + "7" * 16 + "-01"
NAMES = ("r1", None, None), ("", None, None), (None, None, None), ("x" * 97, None, None), ("x" * 96, TRACEPARENT, None), \
    ("r2", TRACEPARENT[:-1] + "0", None)


def engine():
    """The observed program. Reports steps and makes calls in them, on its main thread; it also waits on other threads."""
    ckp, cuda = ctypes.CDLL(f"{KIT}/libinferspan_ckp.so"), ctypes.CDLL(f"{KIT}/libcuda.so.1")
    encoded = [[text and text.encode() if text != "" else b"" for text in row[:2]] for row in NAMES]
    event = ctypes.c_void_p()

    def launch(tag):
        cuda.cuLaunchKernel(None, tag, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(0x5100), None, None)

    def wait():
        launch(999)
        cuda.cuEventSynchronize(event)

    def wait_elsewhere():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()

    cuda.cuEventCreate(ctypes.byref(event), 2)
    wait_elsewhere()
    for slot, row in enumerate(encoded):
        ckp.inferspan_ckp_bind(ctypes.c_uint64(slot), *row)
    for step, size in enumerate(SIZES, 1):
        words = (ctypes.c_uint64 * size)(*(step << 32 | i for i in range(size)))
        ckp.inferspan_ckp_step_begin(ctypes.c_uint64(step), words, size, step & 1)
        for _ in range(step):
            launch(step)
        cuda.cuGraphLaunch(ctypes.c_void_p(0x7000), ctypes.c_void_p(0x5100))
        cuda.cuEventRecord(event, ctypes.c_void_p(0x5100))
        ckp.inferspan_ckp_step_end(ctypes.c_uint64(step))
        launch(998)
        wait_elsewhere()
        cuda.cuEventSynchronize(event)
    ckp.inferspan_ckp_step_begin(ctypes.c_uint64(8), ctypes.c_void_p(8), 1, 0)  # cannot be read
    ckp.inferspan_ckp_step_begin(ctypes.c_uint64(9), None, 0, 0)  # ends the one before


def steps(report):
    """Each step has its number, its changes and its launches. A wait belongs to the step that began last, on any thread."""
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/libinferspan_ckp.so", "flags=1") as observer:
        process = subprocess.Popen([sys.executable, os.path.abspath(__file__), KIT])
        code = process.wait(30)
    events = [e for e in observer.events if e.tgid == process.pid]
    began = [e for e in events if e.kind == BEGAN]
    owners = {e.owner: e.extra for e in began}
    heads = [(e.result, e.extra, e.amount, e.detail, e.source) for e in began]
    wanted = [(STEP, n, size, n & 1, CKP) for n, size in enumerate(SIZES, 1)] + [(STEP, 8, 1, 0, CKP), (STEP, 9, 0, 0, CKP)]
    ended = [(owners[e.owner], e.amount) for e in events if e.kind == ENDED]
    ends = [(n, n + 1) for n in range(1, 8)] + [(8, UNCOUNTED), (9, UNCOUNTED)]
    report("steps", not code and heads == wanted and ended == ends, f"{len(began)} steps, with their launches"
           + ("" if heads == wanted and ended == ends else f": {heads}, {ended}"))
    changes = {owners[owner]: words for owner, words in observer.changes.items()}
    right = all(changes.get(n, [])[:size] == [n << 32 | i for i in range(min(size, 4096))]
                and not any(changes.get(n, [])[size:]) for n, size in enumerate(SIZES, 1))
    failed = [owners[e.owner] for e in events if e.kind == CHANGES and e.result]
    report("changes of steps", right and failed == [8], f"{sum(map(len, changes.values()))} words"
           + (", and step 8, whose changes cannot be read, says so" if failed == [8] else f"; unreadable in steps {failed}, not in 8 alone"))
    calls = [(e.kind, e.amount if e.kind == LAUNCH else 0, owners[e.owner]) for e in events if e.kind < 100]
    expected = [call for n in range(1, 8)
                for call in [(LAUNCH, n, n)] * n + [(GRAPH, 0, n), (RECORD, 0, n), (EVENT_SYNC, 0, n), (EVENT_SYNC, 0, n)]]
    report("calls of steps", calls == expected, f"{len(calls)} calls, and no launch between steps"
           + ("" if calls == expected else f": {calls}"))
    bound = [(e.result, e.text, e.trace.strip("0"), e.extra & 0xFFFFFFFF) for e in events if e.kind == BOUND]
    sampled = "6" * 32
    slots = [(r, name, trace, os.getpid()) for r, name, trace in
             [(0, "r1", ""), (1, "", ""), (2, "", ""), (2, "", ""), (0, "x" * 96, sampled), (0, "r2", "")]]
    report("slots", bound == slots, f"{len(bound)} bound" + ("" if bound == slots else f": {bound}"))
    report("accounting of steps", *observer.accounted())


if __name__ == "__main__":
    engine()
