# SPDX-License-Identifier: Apache-2.0
"""Scenes (test cases) of actor.py with several processes: file descriptors in child processes, and requests that end with their thread or
process."""

import contextlib
import os
import signal
import socket
import sys

from stage import ANSWER, HERE, call, head, in_thread, pair, play, traceparent, trace_id

from inferspan_ckp import Ckp


def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    os.waitpid(pid, 0)


@play
def a_childs_file_with_the_same_descriptor():
    """A child process opens another file or socket with the descriptor number of the request. What it writes there is not the response."""
    server, client = pair()
    data = head(1, method="POST", body="x" * 100)

    def write_to(kind):
        def work():
            ends = pair()
            other = os.open("/dev/null", os.O_WRONLY) if kind == "file" else ends[0].fileno()
            os.dup2(other, server.fileno())
            os.write(server.fileno(), b"x")

        return work

    client.sendall(data[:-100])
    server.recv(65536)
    child(write_to("file"))
    client.sendall(data[-100:-50])
    server.recv(65536)
    call(trace_id(1))
    child(write_to("socket"))
    client.sendall(data[-50:])
    server.recv(65536)
    call(trace_id(1))


@play
def a_childs_answer():
    """A child process writes the response to its parent's request."""
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    child(lambda: server.sendall(ANSWER))
    call(trace_id(1))
    server.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        server.recv(65536)
    call(None)


@play
def exits_inside_ckp():
    """A thread ends without closing anything: the request that it read and the one that it reported end with it."""
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    with Ckp(os.path.join(HERE, "libinferspan_ckp.so")).request(traceparent(2)):
        call(trace_id(2))
        os._exit(0)


@play
def becomes_another_program():
    """A thread other than the main thread executes another program, and gets the main thread's id."""
    kept = []

    def begin():
        ends = pair()
        # Use descriptors that the other program does not open.
        server, client = (socket.socket(fileno=os.dup2(end.detach(), 50 + i, False)) for i, end in enumerate(ends))
        client.sendall(head(1))
        server.recv(65536)
        kept.extend((server, client))
        call(trace_id(1))
        sys.stdout.flush()
        os.execv("/bin/true", ["true"])

    in_thread(begin)


@play
def killed():
    pid = os.fork()
    if pid == 0:
        server, client = pair()
        client.sendall(head(1))
        server.recv(65536)
        call(trace_id(1))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
