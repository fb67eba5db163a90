# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: the steps that an inference engine reports with the functions of ckp/inferspan_ckp.h, and the calls that belong
to each step."""

import ctypes
import os
import subprocess
import sys
import threading

from observed import KIT, Observer, library

# Kinds of records, the kind of owner, and the source of the owner: see wire.h.
LAUNCH, GRAPH_LAUNCH, EVENT_SYNC, EVENT_RECORD, BEGAN, ENDED, BOUND, CHANGES = 1, 2, 11, 16, 403, 404, 405, 406
STEP, CKP = 2, 4
SIZES = 0, 1, 16, 17, 1000, 4096, 5000  # the number of changes of each step; records contain at most 4096
UNCOUNTED, TRACEPARENT = 2**64 - 1, "00-" + "6" * 32 + "-" + "7" * 16 + "-01"
# The x-request-id and the traceparent of each slot. A slot is the number that an engine gives a request with inferspan_ckp_bind.
SLOTS = ("r1", None), ("", None), (None, None), ("x" * 97, None), ("x" * 96, TRACEPARENT), ("r2", TRACEPARENT[:-1] + "0")


def engine():
    """The observed program: its main thread reports steps and makes calls in them; other threads wait for the device."""
    ckp, cuda = ctypes.CDLL(f"{KIT}/libinferspan_ckp.so"), ctypes.CDLL(f"{KIT}/libcuda.so.1")
    encoded = [[None if text is None else text.encode() for text in slot] for slot in SLOTS]
    event = ctypes.c_void_p()

    def launch(blocks):
        cuda.cuLaunchKernel(None, blocks, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(0x5100), None, None)

    def wait():
        launch(999)  # outside of a step
        cuda.cuEventSynchronize(event)

    def wait_on_another_thread():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()

    cuda.cuEventCreate(ctypes.byref(event), 2)
    wait_on_another_thread()
    for slot, ids in enumerate(encoded):
        ckp.inferspan_ckp_bind(ctypes.c_uint64(slot), *ids)
    for step, size in enumerate(SIZES, 1):
        words = (ctypes.c_uint64 * size)(*(step << 32 | i for i in range(size)))
        ckp.inferspan_ckp_step_begin(ctypes.c_uint64(step), words, size, step & 1)
        for _ in range(step):
            launch(step)
        cuda.cuGraphLaunch(ctypes.c_void_p(0x7000), ctypes.c_void_p(0x5100))
        cuda.cuEventRecord(event, ctypes.c_void_p(0x5100))
        ckp.inferspan_ckp_step_end(ctypes.c_uint64(step))
        launch(998)  # outside of a step
        wait_on_another_thread()
        cuda.cuEventSynchronize(event)
    ckp.inferspan_ckp_step_begin(ctypes.c_uint64(8), ctypes.c_void_p(8), 1, 0)  # the changes are at an unreadable address
    ckp.inferspan_ckp_step_begin(ctypes.c_uint64(9), None, 0, 0)  # also ends step 8


def steps(report):
    """Checks that each step is reported with its number, changes and launches, and that the waits of all threads belong to the
    step that began last."""
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/libinferspan_ckp.so", "flags=1") as observer:
        process = subprocess.Popen([sys.executable, os.path.abspath(__file__), KIT])
        code = process.wait(30)
    events = [e for e in observer.events if e.tgid == process.pid]
    began = [e for e in events if e.kind == BEGAN]
    step_of = {e.owner: e.extra for e in began}
    announced = [(e.result, e.extra, e.amount, e.detail, e.source) for e in began]
    expected = [(STEP, n, size, n & 1, CKP) for n, size in enumerate(SIZES, 1)] + [(STEP, 8, 1, 0, CKP), (STEP, 9, 0, 0, CKP)]
    ended = [(step_of[e.owner], e.amount) for e in events if e.kind == ENDED]
    expected_ends = [(n, n + 1) for n in range(1, 8)] + [(8, UNCOUNTED), (9, UNCOUNTED)]
    ok = announced == expected and ended == expected_ends
    report("steps", not code and ok, f"{len(began)} steps, with their launches" + ("" if ok else f": {announced}, {ended}"))
    changes = {step_of[owner]: words for owner, words in observer.changes.items()}
    complete = all(changes.get(n, [])[:size] == [n << 32 | i for i in range(min(size, 4096))]
                   and not any(changes.get(n, [])[size:]) for n, size in enumerate(SIZES, 1))
    unreadable = [step_of[e.owner] for e in events if e.kind == CHANGES and e.result]
    report("changes of steps", complete and unreadable == [8],
           f"{sum(map(len, changes.values()))} words; unreadable in steps {unreadable}, expected in [8]")
    calls = [(e.kind, e.amount if e.kind == LAUNCH else 0, step_of[e.owner]) for e in events if e.kind < 100]
    expected = [call for n in range(1, 8) for call in
                [(LAUNCH, n, n)] * n + [(GRAPH_LAUNCH, 0, n), (EVENT_RECORD, 0, n), (EVENT_SYNC, 0, n), (EVENT_SYNC, 0, n)]]
    report("calls of steps", calls == expected, f"{len(calls)} calls" + ("" if calls == expected else f": {calls}, not {expected}"))
    bound = [(e.result, e.text, e.trace.strip("0"), e.extra & 0xFFFFFFFF) for e in events if e.kind == BOUND]
    sampled = "6" * 32
    expected = [(binding, name, trace, os.getpid()) for binding, name, trace in
                [(0, "r1", ""), (1, "", ""), (2, "", ""), (2, "", ""), (0, "x" * 96, sampled), (0, "r2", "")]]
    report("slots", bound == expected, f"{len(bound)} slots bound" + ("" if bound == expected else f": {bound}"))
    report("accounting of steps", *observer.accounted())


if __name__ == "__main__":
    engine()
