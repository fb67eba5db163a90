# SPDX-License-Identifier: Apache-2.0
"""coldstart.py LIBRARIES WEIGHTS TRUTH PORT: a server that logs the phases of its start, with which testkit/coldstart compares the report
of the bridge's command `coldstart`. The environment variable BEGAN is the Unix time of the start in seconds.

It imports modules, forks an engine, and serves on PORT when the engine is ready. The engine uses the stand-ins for CUDA and NCCL in
LIBRARIES. It reads one half of the file WEIGHTS, maps the other half and touches some of its pages, computes, waits for a lock that
another thread holds, and synchronises with the device.

At the end of each part, it appends a JSON line to TRUTH: the name of the part, the process, and the start and end on CLOCK_MONOTONIC. For
a wait, "holder" is the thread or process that ends it. For a part that consists of several intervals, "more" is the sum of their durations
in seconds.
"""

import contextlib
import ctypes
import json
import mmap
import os
import sys
import threading
import time
import zlib

BEGAN = int(float(os.environ["BEGAN"]) * 1e9) - time.time_ns() + time.monotonic_ns()

CHUNK = 1 << 20
TENSOR = 8 << 20
STRIDE = 64 << 10
COMPUTE_SECONDS = 0.5
LOCK_SECONDS = 0.7
SET_NAME = 15
DIE_WITH_PARENT = 1


def log(what, began, **more):
    with open(sys.argv[3], "a", encoding="ascii") as truth:
        truth.write(json.dumps({"what": what, "pid": os.getpid(), "from": began, "to": time.monotonic_ns(), **more}) + "\n")


@contextlib.contextmanager
def part(what, **more):
    began = time.monotonic_ns()
    yield
    log(what, began, **more)


class Engine:
    def __init__(self, driver, nccl):
        self.driver, self.nccl = driver, nccl
        self.address = ctypes.c_ulonglong()
        self.stream = ctypes.c_void_p(0x5100)

    def start(self):
        made = ctypes.c_void_p()
        with part("device_init"):
            self.driver.cuInit(0)
        with part("module_load"):
            self.driver.cuModuleLoadData(ctypes.byref(made), None)
        with part("allocation"):
            self.driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(1 << 30))
            self.driver.cuMemCreate(ctypes.byref(self.address), ctypes.c_size_t(1 << 30), None, ctypes.c_ulonglong(0))
        with part("nccl_init"):
            self.nccl.ncclCommInitRank(ctypes.byref(made), 1, (UniqueId)(), 0)
        with part("weights"):
            self.weights(sys.argv[2])
        with part("compute"):
            compute()
        with part("graph_capture"):
            self.driver.cuStreamBeginCapture_v2(self.stream, 0)
            self.driver.cuStreamEndCapture(self.stream, ctypes.byref(made))
            self.driver.cuGraphInstantiateWithFlags(ctypes.byref(made), made, ctypes.c_ulonglong(0))
        wait_for_lock()
        with part("warm_up"):
            with part("synchronise"):
                self.driver.cuCtxSynchronize()
            for grid in range(1, 101):
                self.driver.cuLaunchKernel(None, grid, 1, 1, 32, 1, 1, 0, self.stream, None, None)
            self.driver.cuStreamSynchronize(self.stream)

    def weights(self, path):
        file = os.open(path, os.O_RDONLY)
        half = os.fstat(file).st_size // 2
        buffer, faults = bytearray(CHUNK), 0
        for at in range(0, half, CHUNK):
            os.readv(file, [buffer])
            if at % TENSOR == 0:
                self.driver.cuMemcpyHtoD_v2(self.address, None, ctypes.c_size_t(TENSOR))
        with mmap.mmap(file, half, access=mmap.ACCESS_READ, offset=half) as mapped, memoryview(mapped) as pages:
            mapped.madvise(mmap.MADV_RANDOM)  # without it, the kernel reads most pages before they are touched
            for at in range(0, half, TENSOR):
                touching = time.monotonic_ns()
                sum(pages[at : at + TENSOR : STRIDE])
                faults += time.monotonic_ns() - touching
                self.driver.cuMemcpyHtoD_v2(self.address, None, ctypes.c_size_t(TENSOR))
        os.close(file)
        log("page_faults", time.monotonic_ns(), more=faults / 1e9)


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def compute():
    data = bytes(CHUNK)
    until = time.monotonic() + COMPUTE_SECONDS
    while time.monotonic() < until:
        zlib.crc32(data)


def wait_for_lock():
    lock, held = threading.Lock(), threading.Event()

    def hold():
        ctypes.CDLL(None).prctl(SET_NAME, b"lock-holder")
        with lock:
            held.set()
            time.sleep(LOCK_SECONDS)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    with part("lock", holder=holder.native_id), lock:
        pass
    holder.join()


def main():
    # Loaded first, so that the observing tool has attached its probes to them before they are called.
    driver = ctypes.CDLL(os.path.join(sys.argv[1], "libcuda.so.1"))
    nccl = ctypes.CDLL(os.path.join(sys.argv[1], "libnccl.so.2"))
    import asyncio, concurrent.futures, decimal, email.mime.multipart, http.server, logging.config  # noqa: F401, E401
    import multiprocessing.managers, sqlite3, unittest.mock, urllib.request, xml.dom.minidom, xmlrpc.client  # noqa: F401, E401

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    log("imports", BEGAN)
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, 9)
        Engine(driver, nccl).start()
        os.write(tell, b"1")
        time.sleep(3600)
    with part("engine", holder=child):
        os.read(ready, 1)
    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[4])), Handler)
    log("all", BEGAN)
    server.serve_forever()


main()
