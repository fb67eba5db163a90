# SPDX-License-Identifier: Apache-2.0
"""A ring buffer in shared memory, by which the engine process of the stand-in for vLLM and its workers exchange messages without system
calls."""

import os
import pickle
import time
from multiprocessing import resource_tracker, shared_memory

CHUNKS, CHUNK = 10, 1 << 20


class MessageQueue:
    """A queue of chunks. The flags of a chunk show whether it is written, and which readers have read it."""

    def __init__(self, name, readers=None, reader=None):
        self.readers, self.reader, self.at = readers, reader, 0
        size = CHUNKS * (CHUNK + 16)
        if readers is not None:
            self.memory = shared_memory.SharedMemory(name, create=True, size=size)
        else:
            self.memory = attached(name)
        self.buffer = self.memory.buf

    def flags(self):
        return CHUNKS * CHUNK + 16 * (self.at % CHUNKS)

    def enqueue(self, message):
        flags, chunk = self.flags(), (self.at % CHUNKS) * CHUNK
        spin(lambda: not self.buffer[flags] or all(self.buffer[flags + 1 + r] for r in range(self.readers)))
        self.buffer[flags] = 0
        data = pickle.dumps(message)
        if len(data) > CHUNK - 8:
            raise ValueError(f"the message has {len(data)} bytes, but a chunk has room for {CHUNK - 8}")
        self.buffer[chunk:chunk + 8] = len(data).to_bytes(8, "big")
        self.buffer[chunk + 8:chunk + 8 + len(data)] = data
        self.buffer[flags + 1:flags + 1 + self.readers] = bytes(self.readers)
        self.buffer[flags] = 1
        self.at += 1

    def dequeue(self):
        flags, chunk = self.flags(), (self.at % CHUNKS) * CHUNK
        spin(lambda: self.buffer[flags] and not self.buffer[flags + 1 + self.reader])
        length = int.from_bytes(self.buffer[chunk:chunk + 8], "big")
        message = pickle.loads(bytes(self.buffer[chunk + 8:chunk + 8 + length]))
        self.buffer[flags + 1 + self.reader] = 1
        self.at += 1
        return message

    def unlink(self):
        self.memory.unlink()


def attached(name):
    """Attaches to memory that another process creates, and which only that process removes."""
    while True:
        try:
            memory = shared_memory.SharedMemory(name)
            resource_tracker.unregister(memory._name, "shared_memory")
            return memory
        except (FileNotFoundError, ValueError):
            time.sleep(0.01)


def spin(ready):
    for turn in range(1 << 62):
        if ready():
            return
        os.sched_yield() if turn < 50 else time.sleep(0.0002)
