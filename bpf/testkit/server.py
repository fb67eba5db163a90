# SPDX-License-Identifier: Apache-2.0
"""server.py LIBRARIES TRUTH [PORT]: a threaded HTTP server that calls the stand-ins for CUDA in every request. Prints its port.

Appends a JSON line to TRUTH for each piece of work: its thread or process, its start and end on CLOCK_MONOTONIC, and the traceparent of
its request. The path selects the work:

  /infer     driver calls on the handler's thread
  /work/N    adds up N numbers, then the same driver calls
  /runtime   calls of libcudart
  /graph     allocates memory by handles, and captures and launches a graph
  /burst/N   launches a grid of N blocks twenty times
  /thread    driver calls on a thread that the handler starts
  /fork      driver calls in a forked process
  /exec      driver calls in another program
"""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = sys.argv[1]
driver = ctypes.CDLL(os.path.join(HERE, "libcuda.so.1"))
runtime = ctypes.CDLL(os.path.join(HERE, "libcudart.so"))
truth = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def log(kind, number, began, traceparent, started=False):
    """Logs work that ends now; kind is tid or tgid. With started, a handler started the thread for its request."""
    line = {kind: number, "from": began, "to": time.monotonic_ns(), "traceparent": traceparent}
    if started:
        line["started"] = True
    os.write(truth, (json.dumps(line) + "\n").encode())


@contextlib.contextmanager
def serving(traceparent, started=False):
    began = time.monotonic_ns()
    try:
        yield
    finally:
        log("tid", threading.get_native_id(), began, traceparent, started)


def through_driver():
    address = ctypes.c_ulonglong()
    size = ctypes.c_size_t(4096)
    stream = ctypes.c_void_p(threading.get_native_id() * 16)
    driver.cuMemAlloc_v2(ctypes.byref(address), size)
    driver.cuMemcpyHtoD_v2(address, None, size)
    for grid in range(1, 4):
        driver.cuLaunchKernel(None, grid, 1, 1, 32, 1, 1, 0, stream, None, None)
    driver.cuStreamSynchronize(stream)
    driver.cuMemcpyDtoHAsync_v2(None, address, size, stream)
    driver.cuMemFree_v2(address)


def through_runtime():
    address = ctypes.c_void_p()
    size = ctypes.c_size_t(8192)
    runtime.cudaMalloc(ctypes.byref(address), size)
    runtime.cudaMemcpy(address, None, size, 1)
    runtime.cudaMemcpyAsync(None, address, size, 2, None)
    runtime.cudaStreamSynchronize(None)
    runtime.cudaFree(address)


def through_graph():
    """Allocates memory by handles, copies a rectangle, and captures, launches and queries a graph."""
    handle, host, made = ctypes.c_ulonglong(), ctypes.c_void_p(), ctypes.c_void_p()
    size, address = ctypes.c_size_t(2 << 20), ctypes.c_ulonglong(0x700000000000)
    stream = ctypes.c_void_p(threading.get_native_id() * 16)
    driver.cuMemCreate(ctypes.byref(handle), size, None, ctypes.c_ulonglong(0))
    driver.cuMemMap(address, size, ctypes.c_size_t(0), handle, ctypes.c_ulonglong(0))
    driver.cuMemHostAlloc(ctypes.byref(host), ctypes.c_size_t(65536), 0)
    copy = (ctypes.c_uint64 * 16)(*[0] * 14, 640, 48)
    driver.cuMemcpy2DAsync_v2(ctypes.byref(copy), stream)
    driver.cuModuleGetFunction(ctypes.byref(made), None, b"kernel")
    driver.cuLibraryGetKernel(ctypes.byref(made), None, b"kernel")
    driver.cuStreamBeginCapture_v2(stream, 0)
    driver.cuStreamEndCapture(stream, ctypes.byref(made))
    driver.cuGraphInstantiateWithFlags(ctypes.byref(made), made, ctypes.c_ulonglong(0))
    driver.cuGraphLaunch(made, stream)
    driver.cuStreamQuery(stream)
    runtime.cudaStreamQuery(stream)
    driver.cuStreamSynchronize(stream)
    driver.cuMemFreeHost(host)
    driver.cuMemUnmap(address, size)
    driver.cuMemRelease(handle)


def burst(grid):
    stream = ctypes.c_void_p(threading.get_native_id() * 16)
    for _ in range(20):
        driver.cuLaunchKernel(None, grid, 1, 1, 32, 1, 1, 0, stream, None, None)
    driver.cuStreamSynchronize(stream)


def in_thread(traceparent):
    def run():
        with serving(traceparent, started=True):
            through_driver()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def in_fork(traceparent):
    child = os.fork()
    if child == 0:
        with serving(traceparent):
            through_driver()
        os._exit(0)
    os.waitpid(child, 0)


def in_program(traceparent):
    began = time.monotonic_ns()
    child = subprocess.Popen([os.path.join(HERE, "load"), "0.0001", "1"], stdout=subprocess.DEVNULL)
    child.wait()
    log("tgid", child.pid, began, traceparent)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self):
        traceparent = self.headers.get("traceparent")
        with serving(traceparent):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/infer":
                through_driver()
            elif self.path.startswith("/work/"):
                sum(range(int(self.path.rpartition("/")[2])))
                through_driver()
            elif self.path.startswith("/burst/"):
                burst(int(self.path.rpartition("/")[2]))
            elif self.path == "/runtime":
                through_runtime()
            elif self.path == "/graph":
                through_graph()
            elif self.path == "/thread":
                in_thread(traceparent)
            elif self.path == "/fork":
                in_fork(traceparent)
            elif self.path == "/exec":
                in_program(traceparent)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

    do_GET = answer
    do_POST = answer

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3]) if len(sys.argv) > 3 else 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
