# SPDX-License-Identifier: Apache-2.0
"""The ranks of the stand-in engine `plain`. A rank launches the kernels of the engine's steps on one device. A single rank runs in the
engine's process. Several ranks each run in a process of their own."""

import ctypes
import importlib.metadata
import json
import mmap
import os
import pickle
import struct
import subprocess
import sys
import time
import types

CHUNKS, CHUNK = 10, 1 << 18  # number and size of a ring's chunks


def note(path, **fact):
    """Appends a fact as a JSON line, in one write, because the processes share the file."""
    with open(path, "ab", 0) as file:
        file.write((json.dumps(fact, separators=(",", ":")) + "\n").encode())


class Worker:
    """Runs steps. Its methods have the names of those of vLLM's worker, because plugins wrap these. As in vLLM, execute_model returns a
    result only for an empty step."""

    def __init__(self, run):
        self.run = run

    def execute_model(self, scheduler_output):
        return self.run(scheduler_output)

    def sample_tokens(self, grammar_output):
        return grammar_output


class SchedulerOutput(types.SimpleNamespace):
    scheduled_new_reqs: list
    scheduled_cached_reqs: object
    num_scheduled_tokens: dict
    finished_req_ids: set


def load_plugins(release):
    """Creates the modules that plugins of vLLM import, and loads the installed plugins."""
    for name, content in (("vllm", {"__version__": release}), ("vllm.v1.core.sched.output", {"SchedulerOutput": SchedulerOutput}),
                          ("vllm.v1.worker.gpu_worker", {"Worker": Worker})):
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:depth]), types.ModuleType(parts[depth - 1]))
        vars(sys.modules[name]).update(content, __name__=name)
    if tuple(map(int, release.split("."))) < (0, 11, 2):
        del Worker.sample_tokens
    for entry in importlib.metadata.entry_points(group="vllm.general_plugins"):
        entry.load()()


class Ring:
    """A ring of messages in shared memory, from one process to one or more readers. A chunk of the ring begins with
    counters: how many messages were written to the chunk so far, and how many of them each reader has read."""

    def __init__(self, path, readers, reader=None):
        with open(path, "a+b") as file:
            file.truncate(CHUNKS * CHUNK)
            self.memory = mmap.mmap(file.fileno(), CHUNKS * CHUNK)
        self.readers, self.reader, self.at = readers, reader, 0

    def await_chunk(self, ready):
        """Waits for the next chunk; returns its position in the memory, and how many messages were written to it before."""
        start, turn = self.at % CHUNKS * CHUNK, self.at // CHUNKS
        wait = 0
        while not ready(turn, *struct.unpack_from(f"{1 + self.readers}I", self.memory, start)):
            time.sleep(wait := min(wait + 5e-6, 1e-3))
        self.at += 1
        return start, turn

    def put(self, message):
        data = pickle.dumps(message)
        start, turn = self.await_chunk(lambda turn, _, *read: min(read) == turn)
        struct.pack_into("I", self.memory, start + 64, len(data))
        self.memory[start + 68:start + 68 + len(data)] = data
        struct.pack_into("I", self.memory, start, turn + 1)

    def get(self):
        start, turn = self.await_chunk(lambda turn, written, *_: written > turn)
        length, = struct.unpack_from("I", self.memory, start + 64)
        message = pickle.loads(self.memory[start + 68:start + 68 + length])
        struct.pack_into("I", self.memory, start + 4 + 4 * self.reader, turn + 1)
        return message


class Rank:
    """Runs steps on one device."""

    def __init__(self, asked, rank):
        self.asked, self.rank, self.events = asked, rank, {}
        self.cuda = ctypes.CDLL(asked.libraries + "/libcuda.so.1")
        self.worker = Worker(self.compute)

    def execute(self, step, output, truth):
        self.step, began = step, time.monotonic_ns()
        self.worker.execute_model(output)
        if output.num_scheduled_tokens and hasattr(self.worker, "sample_tokens"):
            self.worker.sample_tokens(())
        note(self.asked.truth, kind="step", step=step, rank=self.rank, pid=os.getpid(), begin_ns=began, end_ns=time.monotonic_ns(),
             launches=3 if output.num_scheduled_tokens else 0, tokens=output.num_scheduled_tokens, **truth)

    def compute(self, output):
        if not output.num_scheduled_tokens:
            return ()
        stream, event = ctypes.c_void_p(0x5100), ctypes.c_void_p()
        for blocks in (1, max(1, output.nanos - 2), 1):
            self.cuda.cuLaunchKernel(ctypes.c_void_p(0xF001), blocks, 1, 1, 32, 1, 1, 0, stream, None, None)
        self.cuda.cuEventCreate(ctypes.byref(event), 2)
        self.cuda.cuEventRecord(event, stream)
        if self.asked.in_flight == 1:
            self.cuda.cuEventSynchronize(event)
        else:
            self.events[self.step] = event
        return None

    def wait(self, step):
        if event := self.events.pop(step, None):
            self.cuda.cuEventSynchronize(event)

    def serve(self):
        """Runs the methods that the engine process calls. Every rank replies to the call `wait`, because in vLLM a collective makes all
        ranks end a step together."""
        requests = Ring(f"{self.asked.core}/requests", self.asked.tp, self.rank)
        replies = Ring(f"{self.asked.core}/replies{self.rank}", 1)
        replies.put(None)
        while True:
            method, *arguments = requests.get()
            getattr(self, method)(*arguments)
            if method == "wait":
                replies.put(None)


class Ranks:
    """Starts a process for each rank, with vLLM's process title, and calls all ranks."""

    def __init__(self, asked):
        self.requests = Ring(f"{asked.core}/requests", asked.tp)
        self.replies = [Ring(f"{asked.core}/replies{rank}", 1, 0) for rank in range(asked.tp)]
        titled = tuple(map(int, asked.release.split("."))) >= (0, 10, 1)
        for rank in range(asked.tp):
            name = f"VLLM::Worker_TP{rank}" if titled else sys.executable
            subprocess.Popen([name, *sys.argv, "--rank", str(rank)], executable=sys.executable, stdin=subprocess.DEVNULL)
        for replies in self.replies:
            replies.get()  # the rank is ready

    def execute(self, *arguments):
        self.requests.put(("execute", *arguments))

    def wait(self, step):
        self.requests.put(("wait", step))
        for replies in self.replies:
            replies.get()
