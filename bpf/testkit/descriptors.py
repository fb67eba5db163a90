# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: the number of bytes that the BPF programs report for system calls on file descriptors, and the type of
descriptor (file, socket, pipe) that they report."""

import os
import subprocess
import sys

from observed import HERE, KIT, Observer

READ, WRITE, RECEIVE, SEND, CLOSE = 200, 201, 202, 203, 213
FILE, INET, UNIX, PIPE, ANON = range(1, 6)
# The system call numbers of preadv2, pwritev2, recvmmsg and sendmmsg.
NUMBERS = "327 328 299 307" if os.uname().machine == "x86_64" else "286 287 243 269"


def descriptors(report):
    """Checks vectored calls, calls with several messages, and the closing of each type of descriptor."""
    program = (
        "import ctypes, os, socket, sys; sys.path.insert(0, sys.argv[2]); from inferspan_ckp import Ckp\n"
        "libc = ctypes.CDLL(None); PREADV2, PWRITEV2, RECVMMSG, SENDMMSG = map(int, sys.argv[3:7]); W = ctypes.c_ulong\n"
        "def words(*values): return (ctypes.c_uint64 * len(values))(*values)\n"
        "def buffer(size): return ctypes.create_string_buffer(size)\n"
        "def messages(sizes, kept):\n"
        "    flat = []\n"
        "    for size in sizes:\n"
        "        kept.append(buffer(size)); kept.append(words(ctypes.addressof(kept[-1]), size))\n"
        "        flat += [0, 0, ctypes.addressof(kept[-1]), 1, 0, 0, 0, 0]\n"
        "    return words(*flat)\n"
        "one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "path = sys.argv[1] + '/plain'; file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC); pipe = os.pipe(); kept = []\n"
        "data = buffer(300); list_ = words(ctypes.addressof(data), 300)\n"
        "out, back, few = messages([100, 20, 3], kept), messages([200, 200, 200], kept), messages([1] * 70, kept)\n"
        "def syscall(number, *arguments): return libc.syscall(W(number), *map(W, arguments))\n"
        "def address(of): return ctypes.addressof(of)\n"
        "with Ckp(sys.argv[1] + '/libinferspan_ckp.so').request('00-' + '1' * 32 + '-' + '2' * 16 + '-01'):\n"
        "    results = [syscall(PWRITEV2, file, address(list_), 1, 0, 0, 0), syscall(PREADV2, file, address(list_), 1, 100, 0, 0),\n"
        "               syscall(SENDMMSG, one.fileno(), address(out), 3, 0), syscall(RECVMMSG, two.fileno(), address(back), 3, 0, 0),\n"
        "               syscall(SENDMMSG, one.fileno(), address(few), 0, 0)]\n"
        "    [os.close(each) for each in (file, pipe[0], one.detach(), udp.detach(), os.eventfd(0))]\n"
        "print(*results, flush=True)\n"
    )
    with Observer(f"ckp={KIT}/libinferspan_ckp.so", "flags=4") as observer:
        run = subprocess.run([sys.executable, "-c", program, KIT, os.path.join(HERE, "..", "ckp"), *NUMBERS.split()],
                             check=True, timeout=30, stdout=subprocess.PIPE, text=True)
    seen = [e for e in observer.events if e.trace == "1" * 32]
    moved = [(e.kind, e.amount, e.detail & 7) for e in seen if e.kind in (READ, WRITE, RECEIVE, SEND)]
    wanted = [(WRITE, 300, FILE), (READ, 200, FILE), (SEND, 123, UNIX), (RECEIVE, 123, UNIX), (SEND, 0, UNIX)]
    report("bytes moved", run.stdout.split() == ["300", "200", "3", "3", "0"] and moved == wanted,
           f"{moved}, the program reports {run.stdout.split()}")
    closed = [e.detail & 7 for e in seen if e.kind == CLOSE]
    report("types of closed descriptors", closed == [FILE, PIPE, UNIX, INET, ANON], f"{closed}")
