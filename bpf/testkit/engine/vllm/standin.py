# SPDX-License-Identifier: Apache-2.0
"""Shared by all processes of the stand-in for vLLM: its configuration, the ground truth (a file that says what really ran), and calls of
the stand-ins for CUDA and NCCL."""

import ctypes
import json
import os
import subprocess
import sys
import time

DEFAULTS = {
    "release": "0.16.0",
    "tp": 1,
    "async": True,
    "seed": 1,
    "budget": 256,  # maximum tokens of a step
    "most": 64,  # maximum requests of a step
    "gather": 0,  # number of requests that must have arrived before the first step
    "preempt": 0.0,  # probability that a step preempts its last request
    "script": {},  # step number -> number of preempted requests, instead of random ones
    "layers": 4,
    "collectives": 0,  # NCCL collectives of each step
    "swap": 0,  # number of the step in which the last rank swaps the first two collectives; 0: none
    "extra_fields": 0,  # additional fields of a request, which no release has
    "decode_ns": 20_000,  # device time of one decoded token
    "prefill_ns": 2_000,  # device time of one prompt token
    "truth": "",
    "libraries": "",
    "directory": "",
}
CONFIG = {**DEFAULTS, **json.loads(os.environ.get("STANDIN_ENGINE", "{}"))}
RELEASE = tuple(int(part) for part in CONFIG["release"].split("."))
libc = ctypes.CDLL(None, use_errno=True)


def monotonic():
    return time.monotonic_ns()


def become(title):
    """Sets the process title and the main thread's name, like setproctitle, and makes the process end with its parent."""
    if RELEASE >= (0, 10, 1):
        libc.prctl(15, title.encode()[:15], 0, 0, 0)
        with open("/proc/self/stat") as stat:
            start, end = map(int, stat.read().rpartition(")")[2].split()[45:47])  # the memory of the arguments
        ctypes.memmove(start, title.encode()[:end - start - 1].ljust(end - start, b"\0"), end - start)
    libc.prctl(1, 9, 0, 0, 0)


def spawn(module, *arguments):
    return subprocess.Popen([sys.executable, "-m", module, *map(str, arguments)], stdin=subprocess.DEVNULL)


def address(name):
    return f"ipc://{CONFIG['directory']}/{name}"


class Truth:
    """Writes the ground truth: a JSON line per fact, each in one write, so that processes can share the file."""

    def __init__(self):
        path = CONFIG["truth"]
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644) if path else None

    def write(self, **fact):
        if self.file is not None:
            os.write(self.file, (json.dumps(fact, separators=(",", ":")) + "\n").encode())


class Communicator:
    """Calls the libnccl stand-in for a rank. Creates its communicator after a second, in which a tracer can attach to the library."""

    def __init__(self, rank):
        self.library = ctypes.CDLL(os.path.join(CONFIG["libraries"], "libnccl.so.2"))
        self.handle = ctypes.c_void_p()
        time.sleep(1)
        self.call("ncclCommInitRank", ctypes.byref(self.handle), CONFIG["tp"], self.unique_id(rank), rank)
        self.all_reduce(1)

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments):
            raise RuntimeError(f"{name} failed")

    def unique_id(self, rank):
        """Returns the communicator's unique id, which the first rank creates and writes to a file."""
        unique, path = UniqueId(), os.path.join(CONFIG["directory"], "communicator")
        if rank == 0:
            self.call("ncclGetUniqueId", ctypes.byref(unique))
            with open(path + ".new", "wb") as file:
                file.write(bytes(unique))
            os.rename(path + ".new", path)
        while not os.path.exists(path):
            time.sleep(0.01)
        with open(path, "rb") as file:
            return UniqueId.from_buffer_copy(file.read())

    def all_reduce(self, elements, stream=None):
        self.call("ncclAllReduce", None, None, ctypes.c_size_t(elements), 7, 0, self.handle, stream)


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_ubyte * 128)]


class Driver:
    """Calls the libcuda stand-in. Without libraries, only counts the calls."""

    def __init__(self):
        directory = CONFIG["libraries"]
        self.library = ctypes.CDLL(os.path.join(directory, "libcuda.so.1")) if directory else None
        self.compute, self.copy = ctypes.c_void_p(0x5100), ctypes.c_void_p(0x5200)
        self.calls = 0

    def call(self, name, *arguments):
        self.calls += 1
        if self.library and getattr(self.library, name)(*arguments):
            raise RuntimeError(f"{name} failed")

    def launch(self, nanos):
        """Launches a kernel of this duration. FAKE_CUDA_KERNEL must be "grid", so that a block takes a nanosecond."""
        self.call("cuLaunchKernel", ctypes.c_void_p(0xF001), max(1, nanos), 1, 1, 32, 1, 1, 0, self.compute, None, None)

    def launch_graph(self):
        self.call("cuGraphLaunch", ctypes.c_void_p(0x7000), self.compute)

    def copied(self):
        """Enqueues a copy to the host and the record of an event, which it returns."""
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 2)
        host = ctypes.create_string_buffer(64)
        self.call("cuMemcpyDtoHAsync_v2", host, ctypes.c_void_p(0x7F0000000000), ctypes.c_size_t(64), self.compute)
        self.call("cuEventRecord", event, self.compute)
        return event

    def wait(self, event):
        self.call("cuEventSynchronize", event)
