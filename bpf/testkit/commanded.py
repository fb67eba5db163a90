# SPDX-License-Identifier: Apache-2.0
"""commanded.py LIBRARIES DIRECTORY: runs a request for each line "WORK TRACEPARENT" of its input, where WORK is a key of WORKS.

For each line, it reports the request with the functions of ckp/inferspan_ckp.h (CKP), does the work and prints "done". It exits at the
end of its input. LIBRARIES is the directory of the stand-ins for CUDA and NCCL. DIRECTORY is for files and devices.
"""

import contextlib
import ctypes
import fcntl
import os
import select
import stat
import sys
import time

HERE, DIRECTORY = sys.argv[1:3]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ckp"))
from inferspan_ckp import Ckp  # noqa: E402

nccl = ctypes.CDLL(os.path.join(HERE, "libnccl.so.2"))
ckp = Ckp(os.path.join(HERE, "libinferspan_ckp.so"))
GPU_COMMAND = 0xC0_20_46_2A  # ioctl type 0x46 (NVIDIA), 32 bytes in both directions
OTHER_COMMAND = 0xC0_20_54_2A
SUM, MAX = 0, 2
INT8, FLOAT16, FLOAT32, BFLOAT16 = 0, 6, 7, 9


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def collectives():
    """Calls each collective and transfer once, each with a different number of elements."""
    unique, communicator = UniqueId(), ctypes.c_void_p()
    count = ctypes.c_size_t
    nccl.ncclGetUniqueId(ctypes.byref(unique))
    nccl.ncclCommInitRank(ctypes.byref(communicator), 2, unique, 1)
    nccl.ncclAllReduce(None, None, count(1024), FLOAT32, SUM, communicator, None)
    nccl.ncclReduceScatter(None, None, count(512), BFLOAT16, MAX, communicator, None)
    nccl.ncclAllGather(None, None, count(256), FLOAT16, communicator, None)
    nccl.ncclBroadcast(None, None, count(128), INT8, 1, communicator, None)
    nccl.ncclReduce(None, None, count(64), FLOAT32, MAX, 1, communicator, None)
    nccl.ncclGroupStart()
    nccl.ncclSend(None, count(32), FLOAT16, 1, communicator, None)
    nccl.ncclRecv(None, count(16), FLOAT16, 1, communicator, None)
    nccl.ncclGroupEnd()


def communicators():
    """Uses a communicator, destroys it, and uses its address again, as if ncclCommSplit had created another communicator there."""
    unique, communicator = UniqueId(), ctypes.c_void_p()
    nccl.ncclGetUniqueId(ctypes.byref(unique))
    nccl.ncclCommInitRankConfig(ctypes.byref(communicator), 4, unique, 3, None)
    for elements in 1, 2:
        nccl.ncclAllReduce(None, None, ctypes.c_size_t(elements), FLOAT32, SUM, communicator, None)
    nccl.ncclCommDestroy(communicator)
    nccl.ncclAllReduce(None, None, ctypes.c_size_t(3), FLOAT32, SUM, communicator, None)


def control(path, command):
    """Makes an ioctl, which fails because there is no driver; only the call matters."""
    with open(path, "rb", 0) as device, contextlib.suppress(OSError):
        fcntl.ioctl(device, command, bytes(32))


def devices():
    """Makes an ioctl of a GPU, and three that differ from it: in the type, in the device's name, and on a file that is no device."""
    gpu, other, plain = (os.path.join(DIRECTORY, name) for name in ("nvidia0", "other0", "nvidia-notes"))
    for path in (gpu, other):
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    open(plain, "w").close()
    control(gpu, GPU_COMMAND)
    control(gpu, OTHER_COMMAND)
    control(other, GPU_COMMAND)
    control(plain, GPU_COMMAND)


def operations():
    """Reports two operations: one with an immediate ioctl, and one whose ioctl is too late to be attributed to it."""
    with ckp.operation("prefill"):
        control("/dev/null", OTHER_COMMAND)
        control("/dev/null", OTHER_COMMAND)
    with ckp.operation("decode"):
        time.sleep(0.005)
        control("/dev/null", OTHER_COMMAND)


def waits():
    """Makes fifty reads that take no time, and one wait."""
    with open("/dev/null", "rb", 0) as nothing:
        for _ in range(50):
            nothing.read(1)
    poll = select.poll()
    poll.register(0, 0)
    poll.poll(30)


WORKS = {"nccl": collectives, "communicators": communicators, "devices": devices, "operations": operations, "waits": waits}
print("ready", flush=True)
for line in sys.stdin:
    work, traceparent = line.split()
    with ckp.request(traceparent):
        WORKS[work]()
    print("done", flush=True)
