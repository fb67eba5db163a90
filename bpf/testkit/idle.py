# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: system calls that begin during one request and end while no request is open. The BPF programs do not observe
such an end."""

import os
import subprocess
import sys

from observed import Observer

OFF_CPU, BEGAN = 301, 403  # kinds of records
READ_NUMBER = "0" if os.uname().machine == "x86_64" else "63"  # the number of the system call read


def missed_ends(report):
    """Checks that a call that ended while no request was open is not reported for a later request."""
    program = (
        "import os, socket, sys, threading, time\n"
        "def head(digit):\n"
        "    return b'GET / HTTP/1.1\\r\\ntraceparent: 00-' + digit * 32 + b'-' + b'2' * 16 + b'-01\\r\\n\\r\\n'\n"
        "first, client = socket.socketpair(); second, other = socket.socketpair(); pipe = os.pipe()\n"
        "def work():\n"
        "    os.read(pipe[0], 1); os.read(second.fileno(), 4096); time.sleep(0.01)\n"
        "client.sendall(head(b'8')); first.recv(4096)\n"
        "thread = threading.Thread(target=work); thread.start()\n"
        "while open(f'/proc/self/task/{thread.native_id}/syscall').read().split()[0] != sys.argv[1]: pass\n"
        "first.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n'); first.setblocking(False)\n"
        "try: first.recv(1)\n"
        "except BlockingIOError: pass\n"
        "os.write(pipe[1], b'x'); other.sendall(head(b'9')); thread.join()\n"
    )
    with Observer("flags=8c") as observer:
        subprocess.run([sys.executable, "-c", program, READ_NUMBER], check=True, timeout=30)
    later = [e for e in observer.events if e.trace == "9" * 32]
    began = [e.start for e in later if e.kind == BEGAN]
    early = [e for e in later if e.kind < 400 and e.start < began[0]]
    # During request 9, the thread sleeps outside of reported system calls: its read has ended before the request.
    asleep = [e for e in later if e.kind == OFF_CPU and e.end - e.start > 5e6]
    report("missed ends", len(began) == len(asleep) == 1 and not early and not asleep[0].extra,
           f"{len(later)} events, {len(early)} of them began before their request {early[:1] or ''}; "
           f"system calls of the sleeps: {[e.extra - 1 if e.extra else None for e in asleep]}")
