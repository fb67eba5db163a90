# SPDX-License-Identifier: Apache-2.0
"""actor.py LIBRARIES [SCENE …]: runs scenes (default: all), each in its own process. LIBRARIES is the directory of the stand-ins.

In a scene, a server and its client exchange HTTP requests over socket pairs, and the server launches kernels, each with a unique
grid size. For each launch, the scene prints a JSON line {"scene", "tag", "trace"} with the expected result: tag is the grid size,
and trace the id of the trace that the launch belongs to, or null. This file has scenes with several threads or processes, and scenes
that report requests with ckp/inferspan_ckp.py (CKP); the imported modules have the others.
"""

import _thread
import ctypes
import json
import os
import signal
import sys
import threading
import traceback

import heads  # noqa: F401
import loops  # noqa: F401
import processes  # noqa: F401
import responding  # noqa: F401
import stage
import waits  # noqa: F401
from scenes import interleaved
from stage import ANSWER, HERE, call, head, in_bare_thread, pair, perform, play, served, trace_id, traceparent

from inferspan_ckp import Ckp

CLONE3 = 435  # on every architecture


@play
def threads_inherit():
    """A thread that is started for a request works for it, and so do the threads that it starts."""
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    in_bare_thread(lambda: (call(trace_id(1)), in_bare_thread(lambda: call(trace_id(1)))))
    call(trace_id(1))


@play
def inheritance_ends():
    """A thread that was started for a request no longer works for it after a wait."""
    server, client = pair()
    ready, go, done = threading.Event(), threading.Event(), threading.Event()

    def late():
        call(trace_id(1))
        ready.set()
        go.wait()
        call(None)
        done.set()

    client.sendall(head(1))
    server.recv(65536)
    # Not Thread.start(): the new thread may have to wait in its handshake, which would end the inheritance too early.
    _thread.start_new_thread(late, ())
    ready.wait()
    server.sendall(ANSWER)
    client.sendall(head())
    server.recv(65536)
    go.set()
    done.wait()


@play
def pools_do_not_inherit():
    """A thread that existed before the request does not inherit it, even if the request's thread gives it work."""
    server, client = pair()
    go, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (go.wait(), call(None), done.set()))
    thread.start()
    client.sendall(head(1))
    server.recv(65536)
    go.set()
    done.wait()
    call(trace_id(1))


@play
def another_thread_reads_the_next_request():
    """Once another thread has read the connection's next request, the first thread works for no request."""
    server, client = pair()
    answered, go, done = threading.Event(), threading.Event(), threading.Event()

    def first():
        served(server, client, head(1), trace_id(1))
        answered.set()
        go.wait()
        call(None)
        done.set()

    def second():
        answered.wait()
        client.sendall(head(2))
        server.recv(65536)
        go.set()
        done.wait()
        call(trace_id(2))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


@play
def thread_exits():
    """A request ends with the thread that read it; a process that was started for it then works for no request."""
    server, client = pair()
    trace, children, (ready, called) = trace_id(1), [], os.pipe()

    def reader():
        client.sendall(head(1))
        server.recv(65536)
        task = f"/proc/{os.getpid()}/task/{threading.get_native_id()}"
        children.append(os.fork())
        if children[0] == 0:
            try:
                call(trace)
                os.write(called, b"x")
                while os.path.exists(task):  # busy, because a wait would end the inheritance
                    pass
                call(None)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(called)
        os.read(ready, 1)  # returns even if the child fails, because only the child can write

    thread = threading.Thread(target=reader)
    thread.start()
    thread.join()
    if os.waitpid(children[0], 0)[1]:
        raise ChildProcessError("the forked process failed")


@play
def forks_inherit():
    """A process that is started for a request works for it."""
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    trace = trace_id(1)
    child = os.fork()
    if child == 0:
        os.close(server.fileno())
        call(trace)
        os._exit(0)
    os.waitpid(child, 0)
    call(trace)


@play
def reused_pid_does_not_inherit():
    """A process that gets the pid of an ended process does not inherit that process's request."""
    server, client = pair()
    trace = trace_id(1)
    data = head(1)

    def child(work):
        pid = os.fork()
        if pid == 0:
            work()
            os._exit(0)
        os.waitpid(pid, 0)
        return pid

    pid = child(lambda: (client.sendall(data), server.recv(65536), call(trace)))
    if fork_with(pid) == 0:
        call(None)
        os._exit(0 if os.getpid() == pid else 3)
    if os.waitpid(pid, 0)[1]:
        print(json.dumps({"scene": stage.scene, "note": f"the child did not get pid {pid}"}), flush=True)


def fork_with(pid):
    """Forks a child that gets this pid. Uses clone3, because after a write to ns_last_pid another process could take the pid."""
    number = ctypes.c_int(pid)
    # flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size
    arguments = (ctypes.c_uint64 * 10)(0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(number), 1)
    result = ctypes.CDLL(None, use_errno=True).syscall(CLONE3, arguments, ctypes.sizeof(arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"clone3 with pid {pid}")
    return result


@play
def ckp_requests():
    """A thread works for the request that it reports, and afterwards again for the request that it read."""
    ckp = Ckp(os.path.join(HERE, "libinferspan_ckp.so"))
    with ckp.request(traceparent(1)):
        call(trace_id(1))
    call(None)
    with ckp.request(traceparent(2, flags="00")):
        call(None)
    server, client = pair()
    client.sendall(head(3))
    server.recv(65536)
    call(trace_id(3))
    with ckp.request(traceparent(4)), ckp.operation("prefill"):
        call(trace_id(4))
    call(trace_id(3))
    with ckp.request(None):
        call(None)
    call(trace_id(3))


@play
def ckp_without_a_request():
    """A thread that reports that it serves no request is not bound to a request that it reads meanwhile. Afterwards, it has its earlier
    request again."""
    ckp = Ckp(os.path.join(HERE, "libinferspan_ckp.so"))
    (one, first), (two, second) = pair(), pair()
    with ckp.request(None):
        second.sendall(head(1))
        two.recv(65536)
        call(None)
    call(None)
    served(one, first, head(2), trace_id(2))
    for unsampled in (None, traceparent(3, flags="00")):
        with ckp.request(unsampled):
            second.sendall(head(4))
            two.recv(65536)
            call(None)
        call(trace_id(2))
    with ckp.request(traceparent(5)), ckp.request(None):
        second.sendall(head(6))
        two.recv(65536)
        call(None)
    call(trace_id(2))


@play
def ckp_on_an_event_loop():
    """A thread that has become an event loop can report its request."""
    interleaved()
    ckp = Ckp(os.path.join(HERE, "libinferspan_ckp.so"))
    with ckp.request(traceparent(7)):
        call(trace_id(7))
    call(None)


perform(sys.argv[2:])
