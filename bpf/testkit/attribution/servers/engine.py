# SPDX-License-Identifier: Apache-2.0
"""engine.py app|core|worker DIRECTORY LIBRARIES: one of the servers of the attribution test, in three processes that are connected like
those of an inference engine.

The app is a web server on uvloop, which sends requests over ZMQ to the core. The core runs all open requests together, step by step, and
the worker launches the kernels of each step. DIRECTORY is for the sockets, LIBRARIES has the stand-in for CUDA. The grid size of a launch
identifies its request: it is ten times the number in the request's mark (the path segment after /w/), plus the number of the launch.
"""

import asyncio
import ctypes
import os
import socket
import subprocess
import sys

import zmq
import zmq.asyncio

from work import headers, work_of

role, directory, libraries = sys.argv[1:4]
PARENT = os.getppid()


def address(name):
    return f"ipc://{directory}/{name}.{PARENT if role != 'app' else os.getpid()}"


def received(queue, wait):
    """Returns a message, or None after a timeout; exits if the parent process has ended."""
    while wait and not queue.poll(500):
        if os.getppid() != PARENT:
            os._exit(0)
    return queue.recv_json(zmq.NOBLOCK) if queue.poll(0) else None


def core():
    context = zmq.Context()
    requests, answers, worker = context.socket(zmq.PULL), context.socket(zmq.PUSH), context.socket(zmq.PAIR)
    requests.bind(address("requests"))
    answers.connect(address("answers"))
    worker.bind(address("worker"))
    running = []
    while True:
        request = received(requests, wait=not running)
        while request:
            running.append(request)
            request = received(requests, wait=False)
        worker.send_json([launch for request in running for launch in request["launches"].pop(0)])
        received(worker, wait=True)
        for request in running:
            answers.send_json(request["number"])
        running = [request for request in running if request["launches"]]


def work():
    driver = ctypes.CDLL(os.path.join(libraries, "libcuda.so.1"))
    core = zmq.Context().socket(zmq.PAIR)
    core.connect(address("worker"))
    while True:
        for grid in received(core, wait=True):
            driver.cuLaunchKernel(None, grid, 1, 1, 32, 1, 1, 0, ctypes.c_void_p(0x5100), None, None)
        driver.cuStreamSynchronize(ctypes.c_void_p(0x5100))
        core.send_json("done")


class Engine:
    def __init__(self):
        context = zmq.asyncio.Context()
        self.requests, self.answers = context.socket(zmq.PUSH), context.socket(zmq.PULL)
        self.requests.connect(address("requests"))
        self.answers.bind(address("answers"))
        self.tokens = {}

    async def listen(self):
        while True:
            self.tokens[await self.answers.recv_json()].put_nowait(True)

    async def generate(self, work):
        number = int(work.mark[1:])
        tokens = self.tokens[number] = asyncio.Queue()
        first = [number * 10 + launch for launch in range(work.opens)]
        launches = [first] + [[number * 10 + work.opens + step] for step in range(work.chunks - 1)]
        await self.requests.send_json({"number": number, "launches": launches})
        for step in range(work.chunks):
            await tokens.get()
            if step and work.delay:
                await asyncio.sleep(work.delay)
            yield b"c" * work.chunk


def app():
    import uvicorn
    from fastapi import FastAPI, Request
    from fastapi.responses import StreamingResponse

    app = FastAPI()
    engine = Engine()
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    for name in ("core", "worker"):
        subprocess.Popen([sys.executable, __file__, name, directory, libraries])

    @app.on_event("startup")
    async def start():
        app.state.listening = asyncio.create_task(engine.listen())
        print(listener.getsockname()[1], flush=True)

    @app.post("/w/{rest:path}")
    async def generate(request: Request):
        await request.body()
        work = work_of(request.url.path)
        if work.mode == "boom":
            raise RuntimeError("the handler was asked to fail")
        return StreamingResponse(engine.generate(work), headers=headers(work))

    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="critical", timeout_keep_alive=60)
    uvicorn.Server(config).run(sockets=[listener])


{"app": app, "core": core, "worker": work}[role]()
