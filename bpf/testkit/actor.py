# SPDX-License-Identifier: Apache-2.0
"""actor.py LIBRARIES [SCENE …]: plays scenes of servers to itself over socket pairs, each in a process of its own.

Every scene makes device calls whose grid is a number of their own, and prints what is true of them, one JSON line a
call: {"scene", "tag", "trace"}, where trace is the id the call belongs to, or null when nobody may have it.
"""

import contextlib
import ctypes
import json
import os
import select
import socket
import sys
import threading

HERE = sys.argv[1]
driver = ctypes.CDLL(os.path.join(HERE, "libcuda.so.1"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ckp"))
from inferspan_ckp import Ckp  # noqa: E402

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
scene = ""
tags = 0


def call(trace):
    """One launch, and what is true of it."""
    global tags
    tags += 1
    tag = os.getpid() * 100 + tags
    driver.cuLaunchKernel(None, ctypes.c_uint(tag), 1, 1, 32, 1, 1, 0, None, None, None)
    print(json.dumps({"scene": scene, "tag": tag, "trace": trace}), flush=True)


def trace_id(number):
    return f"{os.getpid():016x}{number:016x}"


def traceparent(number, flags="01", version="00", more=""):
    return f"{version}-{trace_id(number)}-{number:016x}-{flags}{more}"


def head(number=None, method="GET", name="traceparent", value=None, extra="", body=""):
    line = f"{name}: {value or traceparent(number)}\r\n" if number else ""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} /v1/completions HTTP/1.1\r\nHost: x\r\n{extra}{line}{length}\r\n{body}".encode()


def pair():
    return socket.socketpair()


def served(server, client, data, trace):
    client.sendall(data)
    server.recv(65536)
    call(trace)
    server.sendall(ANSWER)


SCENES = {}


def play(function):
    SCENES[function.__name__] = function
    return function


@play
def plain():
    server, client = pair()
    served(server, client, head(1), trace_id(1))
    served(server, client, head(2), trace_id(2))


@play
def names_and_blanks():
    server, client = pair()
    served(server, client, head(1, name="TraceParent"), trace_id(1))
    served(server, client, head(2, value=" \t " + traceparent(2) + " \t"), trace_id(2))
    served(server, client, head(3, name="x-traceparent"), None)
    served(server, client, head(4, extra="a: b\r\n" * 200), trace_id(4))
    served(server, client, head(5, extra="Cookie: " + "x" * 5000 + "\r\n"), trace_id(5))
    served(server, client, head(6, extra="a: traceparent: " + traceparent(7) + "\r\n"), trace_id(6))
    served(server, client, head(8).replace(b"\r\n", b"\n"), trace_id(8))
    served(server, client, head(9, method="OPTIONS"), trace_id(9))


@play
def versions_and_flags():
    server, client = pair()
    served(server, client, head(1, value=traceparent(1, flags="00")), None)
    served(server, client, head(2, value=traceparent(2, flags="03")), trace_id(2))
    served(server, client, head(3, value=traceparent(3, version="cc", more="-what-comes")), trace_id(3))
    served(server, client, head(4, value=traceparent(4, version="cc")), trace_id(4))
    served(server, client, head(5, value=traceparent(5, version="cc", more=".no")), None)
    served(server, client, head(6, value=traceparent(6, more="-no")), None)
    served(server, client, head(7, value=traceparent(7, version="ff")), None)
    served(server, client, head(8, value="00-" + "AB" * 16 + "-00f067aa0ba902b7-01"), None)
    served(server, client, head(9, value="00-" + "0" * 32 + "-00f067aa0ba902b7-01"), None)
    served(server, client, head(9, value="00-" + "1" * 32 + "-0000000000000000-01"), None)
    served(server, client, head(9, extra="traceparent: " + traceparent(10) + "\r\n"), None)
    served(server, client, head(9, value=traceparent(9)[:-1]), None)
    served(server, client, head(11), trace_id(11))


@play
def none_after_one():
    server, client = pair()
    served(server, client, head(1), trace_id(1))
    served(server, client, head(), None)
    served(server, client, head(2), trace_id(2))


def pieces(data, cuts):
    edges = [0] + cuts + [len(data)]
    return [data[a:b] for a, b in zip(edges, edges[1:])]


@play
def split_heads():
    server, client = pair()
    data = head(1, extra="Cookie: " + "y" * 300 + "\r\n")
    for at in list(range(1, len(data), 7)) + [len(data) - n for n in (1, 2, 3, 4)]:
        for piece in pieces(data, [at]):
            client.sendall(piece)
            server.recv(65536)
        call(trace_id(1))
        server.sendall(ANSWER)


@play
def byte_by_byte():
    server, client = pair()
    for number in (1, 2):
        client.sendall(head(number))
        for _ in range(len(head(number))):
            server.recv(1)
        call(trace_id(number))
        server.sendall(ANSWER)


@play
def other_reads():
    server, client = pair()
    client.sendall(head(1))
    os.read(server.fileno(), 65536)
    call(trace_id(1))
    os.write(server.fileno(), ANSWER)
    client.sendall(head(2))
    server.recvmsg(65536)
    call(trace_id(2))
    server.sendmsg([ANSWER])
    client.sendall(head(3))
    os.readv(server.fileno(), [bytearray(40), bytearray(20), bytearray(65536)])
    call(trace_id(3))
    os.writev(server.fileno(), [ANSWER])
    client.sendall(head(4))
    server.recvmsg_into([bytearray(30), bytearray(65536)])
    call(trace_id(4))
    server.sendall(ANSWER)
    client.sendall(head(5))
    server.recv(65536, socket.MSG_PEEK)
    call(None)
    server.recv(65536)
    call(trace_id(5))


@play
def bodies():
    server, client = pair()
    client.sendall(head(1, method="POST", body="GET / HTTP/1.1\r\ntraceparent: " + traceparent(9) + "\r\n\r\n"))
    server.recv(65536)
    call(trace_id(1))
    server.sendall(ANSWER)
    client.sendall(head(2, method="POST", extra="Expect: 100-continue\r\n", body="x" * 5000)[:-5000])
    server.recv(65536)
    call(trace_id(2))
    server.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    client.sendall(b"x" * 5000)
    server.recv(65536)
    call(trace_id(2))
    server.sendall(ANSWER)


@play
def after_the_response():
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    server.sendall(ANSWER[:-1])
    call(trace_id(1))
    server.sendall(ANSWER[-1:])
    call(trace_id(1))
    server.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        server.recv(65536)
    call(None)


@play
def closed():
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    call(trace_id(1))
    server.close()
    call(None)


@play
def not_a_socket():
    reading, writing = os.pipe()
    os.write(writing, head(1))
    os.read(reading, 65536)
    call(None)


@play
def not_http():
    server, client = pair()
    client.sendall(b"GET me a traceparent\r\ntraceparent: " + traceparent(1).encode() + b"\r\n\r\n")
    server.recv(65536)
    call(None)


@play
def pipelined():
    server, client = pair()
    client.sendall(head(1) + head(2))
    server.recv(65536)
    call(None)


@play
def read_ahead():
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    call(trace_id(1))
    client.sendall(head(2))
    server.recv(65536)
    call(None)


@play
def interleaved():
    (one, first), (two, second) = pair(), pair()
    first.sendall(head(1))
    one.recv(65536)
    call(trace_id(1))
    second.sendall(head(2))
    two.recv(65536)
    call(None)
    one.sendall(ANSWER)
    two.sendall(ANSWER)
    served(one, first, head(3), None)


@play
def interleaved_answers():
    (one, first), (two, second) = pair(), pair()
    first.sendall(head(1))
    one.recv(65536)
    one.sendall(ANSWER[:-1])
    second.sendall(head(2))
    two.recv(65536)
    one.sendall(ANSWER[-1:])
    call(None)
    served(two, second, head(3), None)


@play
def one_after_the_other():
    (one, first), (two, second) = pair(), pair()
    served(one, first, head(1), trace_id(1))
    served(two, second, head(2), trace_id(2))
    served(one, first, head(3), trace_id(3))


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


@play
def threads_inherit():
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    in_thread(lambda: (call(trace_id(1)), in_thread(lambda: call(trace_id(1)))))
    call(trace_id(1))


@play
def inheritance_ends():
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
    thread = threading.Thread(target=late)
    thread.start()
    ready.wait()
    server.sendall(ANSWER)
    client.sendall(head())
    server.recv(65536)
    go.set()
    thread.join()


@play
def pools_do_not_inherit():
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
def another_thread_goes_on():
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
    server, client = pair()
    started, go = threading.Event(), threading.Event()
    inner = []

    def second():
        started.set()
        go.wait()
        call(None)

    def first():
        client.sendall(head(1))
        server.recv(65536)
        inner.append(threading.Thread(target=second))
        inner[0].start()
        started.wait()

    outer = threading.Thread(target=first)
    outer.start()
    native = outer.native_id
    outer.join()
    while os.path.exists(f"/proc/self/task/{native}"):
        select.select([], [], [], 0.001)
    go.set()
    inner[0].join()


@play
def forks_inherit():
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
def pid_again():
    """The process that takes over a number takes over nothing else."""
    server, client = pair()
    trace = trace_id(1)
    data = head(1)

    def child(then):
        pid = os.fork()
        if pid == 0:
            then()
            os._exit(0)
        os.waitpid(pid, 0)
        return pid

    pid = child(lambda: (client.sendall(data), server.recv(65536), call(trace)))
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(pid - 1))
    again = os.fork()
    if again == 0:
        call(None)
        os._exit(0 if os.getpid() == pid else 3)
    if os.waitpid(again, 0)[1]:
        print(json.dumps({"scene": scene, "note": "the number was taken by another program"}), flush=True)


@play
def ckp_requests():
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
def ckp_on_an_event_loop():
    interleaved()
    ckp = Ckp(os.path.join(HERE, "libinferspan_ckp.so"))
    with ckp.request(traceparent(7)):
        call(trace_id(7))
    call(None)


for name in sys.argv[2:] or SCENES:
    process = os.fork()
    if process == 0:
        scene = name
        SCENES[name]()
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(process, 0)[1]:
        print(json.dumps({"scene": name, "note": "the scene itself failed"}), flush=True)
        sys.exit(1)
