# SPDX-License-Identifier: Apache-2.0
"""Parts of `check`: while nobody is served no thread is looked at, and nothing of that time is told as a request's."""

import os
import socket
import subprocess
import sys
import time

from observed import KIT, Observer, library, server

READ_NUMBER = "0" if os.uname().machine == "x86_64" else "63"  # of the system call


def pauses(report, requests=30):
    """Between requests nobody looks at the thread: nothing of the pause may be told as a request's."""
    truth, log = os.path.join(KIT, "truth"), os.path.join(KIT, "calls")
    with server(truth, log) as (process, port), Observer(*library("libcuda.so.1"), f"target={process.pid}") as observer:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            for number in range(requests):
                flags = "01" if number % 3 else "00"
                value = f"00-{number + 1:032x}-{number + 1:016x}-{flags}"
                connection.sendall(f"GET /infer HTTP/1.1\r\ntraceparent: {value}\r\n\r\n".encode())
                while not connection.recv(65536).endswith(b"ok"):
                    pass
                time.sleep(0.005)  # the pause that is looked for: how long it is does not matter
    began = {e.trace: e.start for e in observer.events if e.kind == 403}
    told = [e for e in observer.events if e.kind < 400 and e.tgid == process.pid]
    early = [e for e in told if e.start < began[e.trace]]
    report("pauses", len(began) == requests * 2 // 3 and len(told) > 10 * len(began) and not early,
           f"{len(told)} events of {len(began)} requests, {len(early)} began before their request {early[:2] or ''}")


def missed_ends(report):
    """A call that ended while nobody was served is not taken for one that a later request waits for."""
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
    began = [e.start for e in later if e.kind == 403]
    early = [e for e in later if e.kind < 400 and e.start < began[0]]
    # The thread slept while request 9 was served, and in no call that is told of; the read is long over.
    asleep = [e for e in later if e.kind == 301 and e.end - e.start > 5e6]
    report("missed ends", len(began) == len(asleep) == 1 and not early and not asleep[0].extra,
           f"{len(later)} events, {len(early)} began before their request {early[:1] or ''}, "
           f"asleep in calls {[e.extra - 1 if e.extra else None for e in asleep]}")
