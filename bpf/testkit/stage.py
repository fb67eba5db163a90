# SPDX-License-Identifier: Apache-2.0
"""The building blocks of the scenes that actor.py runs: requests, responses, and kernel launches whose expected trace is printed. A scene
is a short program in which a server and a client exchange requests."""

import _thread
import ctypes
import json
import os
import socket
import sys
import threading

HERE = sys.argv[1]
driver = ctypes.CDLL(os.path.join(HERE, "libcuda.so.1"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ckp"))

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
scene = ""
tags = 0


def call(trace):
    """Launches a kernel with a unique grid size, and prints the expected trace of the launch; None if it must not be reported."""
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
    """Returns the server's and the client's end of a connection."""
    return socket.socketpair()


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def served(server, client, data, trace):
    """Sends a request to the server, which launches a kernel and responds."""
    client.sendall(data)
    server.recv(65536)
    call(trace)
    server.sendall(ANSWER)


def in_bare_thread(function):
    """Runs the function on a new thread that has no handshake with its creator: in Thread.start(), the new thread may have to wait for
    a lock, and a thread inherits a request only until it first waits."""
    done = _thread.allocate_lock()
    done.acquire()
    _thread.start_new_thread(lambda: (function(), done.release()), ())
    done.acquire()


SCENES = {}


def play(function):
    """Registers a scene by its function's name."""
    SCENES[function.__name__] = function
    return function


def perform(names):
    """Runs the scenes in sequence, each in its own process."""
    global scene
    for name in names or SCENES:
        process = os.fork()
        if process == 0:
            scene = name
            SCENES[name]()
            sys.stdout.flush()
            os._exit(0)
        if os.waitpid(process, 0)[1]:
            print(json.dumps({"scene": name, "note": "the scene failed"}), flush=True)
            sys.exit(1)
