# SPDX-License-Identifier: Apache-2.0
"""tree.py LIBRARIES: launches kernels on commands, one per line of its input, and prints "done" after each.

  N         launches a grid of N blocks
  tree      launches grids of 1 to 8 blocks: in this process (1, 8), in child processes (2, 3), on another thread (4), in a sampled
            request (5, 7) and in an unsampled one (6)
  helper N  launches a grid of N blocks in a child process that was started before the first command
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
REPORTED, HTTP = "00-" + "1" * 32 + "-" + "2" * 16, "00-" + "3" * 32 + "-" + "4" * 16


def launch(blocks):
    driver.cuLaunchKernel(None, blocks, 1, 1, 1, 1, 1, 0, None, None, None)


def forked(work, *arguments):
    process = os.fork()
    if process == 0:
        work(*arguments)
        os._exit(0)
    os.waitpid(process, 0)


def serve(blocks):
    """Serves a request over TCP. The launch belongs to the request."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        server, _ = listener.accept()
        client.sendall(f"GET / HTTP/1.1\r\ntraceparent: {HTTP}-01\r\n\r\n".encode())
        server.recv(1000)
        launch(blocks)
        server.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        server.close()


def launch_in_tree():
    launch(1)
    forked(lambda: (launch(2), forked(launch, 3)))
    thread = threading.Thread(target=launch, args=(4,))
    thread.start()
    thread.join()
    with ckp.request(REPORTED + "-01"):
        launch(5)
    with ckp.request(REPORTED + "-00"):
        launch(6)
    serve(7)
    launch(8)


def help_out(orders, answers):
    while number := os.read(orders, 8):
        launch(int.from_bytes(number, "little"))
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
        launch_in_tree()
    elif word[0] == "helper":
        os.write(to_helper, int(word[1]).to_bytes(8, "little"))
        os.read(from_helper, 8)
    else:
        launch(int(word[0]))
    print("done", flush=True)
