# SPDX-License-Identifier: Apache-2.0
"""tree.py LIBRARIES: launches a grid of N blocks for each line N of its input, and prints "done" after each line.

The line "tree" launches in child processes, threads and requests. For the line "helper N", a process that was started before the
first line makes the launch.
"""

import ctypes
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ckp"))
from inferspan_ckp import Ckp  # noqa: E402

driver = ctypes.CDLL(os.path.join(sys.argv[1], "libcuda.so.1"))
ckp = Ckp(os.path.join(sys.argv[1], "libinferspan_ckp.so"))
TOLD, HTTP = "00-" + "1" * 32 + "-" + "2" * 16, "00-" + "3" * 32 + "-" + "4" * 16


def call(number):
    driver.cuLaunchKernel(None, number, 1, 1, 1, 1, 1, 0, None, None, None)


def forked(work, *arguments):
    process = os.fork()
    if process == 0:
        work(*arguments)
        os._exit(0)
    os.waitpid(process, 0)


def serve(number):
    """Serves a request over TCP, which owns the launches until its response."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        server, _ = listener.accept()
        client.sendall(f"GET / HTTP/1.1\r\ntraceparent: {HTTP}-01\r\n\r\n".encode())
        server.recv(1000)
        call(number)
        server.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        server.close()


def grow():
    call(1)
    forked(lambda: (call(2), forked(call, 3)))
    thread = threading.Thread(target=call, args=(4,))
    thread.start()
    thread.join()
    with ckp.request(TOLD + "-01"):
        call(5)
    with ckp.request(TOLD + "-00"):
        call(6)
    serve(7)
    call(8)


def help_out(orders, answers):
    while number := os.read(orders, 8):
        call(int.from_bytes(number, "little"))
        os.write(answers, number)
    os._exit(0)


from_us, to_helper = os.pipe()
from_helper, to_us = os.pipe()
if os.fork() == 0:
    os.close(to_helper)
    help_out(from_us, to_us)
os.close(from_us)
print("ready", flush=True)
for line in sys.stdin:
    word = line.split()
    if word[0] == "tree":
        grow()
    elif word[0] == "helper":
        os.write(to_helper, int(word[1]).to_bytes(8, "little"))
        os.read(from_helper, 8)
    else:
        call(int(word[0]))
    print("done", flush=True)
