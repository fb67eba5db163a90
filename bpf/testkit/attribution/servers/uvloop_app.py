# SPDX-License-Identifier: Apache-2.0
"""uvloop_app.py [threads|timer]: one of the servers of the attribution test, FastAPI on uvicorn with uvloop and httptools.

With threads, handlers are synchronous functions, which FastAPI runs on a thread pool that grows during requests. With timer, the event
loop also opens a file every 10 ms, which belongs to no request. At its end, the server prints the times at which uvicorn's own timer ran.
"""

import asyncio
import socket
import sys
import time

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from work import NO_REQUEST, headers, mark, mark_before_response, work_of

kind = "".join(sys.argv[1:])
app = FastAPI()


async def stream(work):
    for number in range(work.chunks):
        if number:
            if work.delay:
                await asyncio.sleep(work.delay)
            mark(work, work.opens + number - 1)
        yield b"c" * work.chunk


def stream_in_thread(work):
    for number in range(work.chunks):
        if number:
            time.sleep(work.delay)
            mark(work, work.opens + number - 1)
        yield b"c" * work.chunk


async def on_loop(request: Request):
    await request.body()
    work = work_of(request.url.path)
    mark_before_response(work)
    return StreamingResponse(stream(work), headers=headers(work))


def in_thread(request: Request):
    work = work_of(request.url.path)
    mark_before_response(work)
    return StreamingResponse(stream_in_thread(work), headers=headers(work))


def tick(number):
    asyncio.get_running_loop().call_later(0.01, tick, number + 1)
    mark(NO_REQUEST, number)


class TickingServer(uvicorn.Server):
    ticks = []

    async def on_tick(self, counter):
        self.ticks.append(time.time())
        return await super().on_tick(counter)


async def serve(server):
    if kind == "timer":
        tick(0)
    await server.serve([listener])


app.post("/w/{rest:path}")(in_thread if kind == "threads" else on_loop)
listener = socket.create_server(("127.0.0.1", 0), backlog=128)
print(listener.getsockname()[1], flush=True)
config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="critical", lifespan="off", timeout_keep_alive=60)
config.setup_event_loop()
asyncio.run(serve(TickingServer(config)))
print(*TickingServer.ticks)
