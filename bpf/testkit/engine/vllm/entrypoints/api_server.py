# SPDX-License-Identifier: Apache-2.0
"""The API server of the stand-in for vLLM: FastAPI on uvicorn with uvloop and httptools. It sends the requests to the engine process over
ZMQ."""

import asyncio
import json
import os
import random
import socket
import time
import uuid

import msgpack
import uvicorn
import zmq
import zmq.asyncio
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

from vllm.plugins import load_general_plugins
from vllm.standin import CONFIG, RELEASE, Truth, address, spawn
from vllm.v1.engine import frames

IDENTITY = (0).to_bytes(2, "little")
TRACED = ("traceparent", "tracestate")


class Whole(asyncio.Queue):
    """The queue of a request without streaming. Collects all tokens, and measures the seconds from the first to the last."""

    def __init__(self):
        super().__init__()
        self.tokens, self.first, self.seconds = [], None, 0

    def put(self, tokens, finish, at):
        self.tokens += tokens
        self.first = self.first or at
        self.seconds = at - self.first
        if finish is not None:
            self.put_nowait((self.tokens, finish))


class Stream(asyncio.Queue):
    """The queue of a streamed request."""

    def put(self, tokens, finish, at):
        self.put_nowait((tokens, finish))


class AsyncLLM:
    """The client of the engine, with a queue of tokens per request."""

    def __init__(self):
        context = zmq.asyncio.Context(io_threads=2)
        self.handshake, self.inputs, self.outputs = (context.socket(kind) for kind in (zmq.ROUTER, zmq.ROUTER, zmq.PULL))
        for name in ("handshake", "inputs", "outputs"):
            getattr(self, name).bind(address(name))
        self.tokens = {}
        self.core = spawn("vllm.v1.engine.core")

    async def start(self):
        identity, _ = await self.handshake.recv_multipart()
        await self.handshake.send_multipart([identity, msgpack.packb({"addresses": {"inputs": [address("inputs")]}})])
        await self.handshake.recv_multipart()
        await self.inputs.recv_multipart()
        self.task = asyncio.create_task(self.listen())

    async def listen(self):
        while True:
            at, outputs = frames.read_outputs(await self.outputs.recv())
            for request_id, tokens, finish in outputs:
                if request_id in self.tokens:
                    self.tokens[request_id].put(tokens, finish, at)

    async def add(self, external, prompt, most, headers, queue):
        internal = f"{external}-{uuid.uuid4().hex[:8]}" if RELEASE >= (0, 14) else external
        self.tokens[internal] = queue
        payload = frames.request(request_id=internal, prompt_token_ids=prompt, sampling_params={"max_tokens": most},
                                 arrival_time=time.time(), client_index=0, current_wave=0, priority=0,
                                 trace_headers=headers if os.environ.get("STANDIN_TRACING") else None,
                                 external_req_id=external, resumable=False)
        await self.inputs.send_multipart([IDENTITY, frames.ADD, payload])
        return internal

    async def abort(self, internal):
        await self.inputs.send_multipart([IDENTITY, frames.ABORT, msgpack.packb([internal])])


app = FastAPI()
truth = Truth()
rng = random.Random(CONFIG["seed"])


@app.on_event("startup")
async def startup():
    app.state.engine = AsyncLLM()
    await app.state.engine.start()
    print(app.state.port, flush=True)


@app.get("/health")
async def health():
    return JSONResponse({})


@app.post("/v1/chat/completions")
async def chat(request: Request):
    body = await request.json()
    text = " ".join(str(message["content"]) for message in body["messages"])
    return await answer(request, body, "chatcmpl-{}", tokenize(text))


@app.post("/v1/completions")
async def completions(request: Request):
    body = await request.json()
    prompt = body["prompt"]
    return await answer(request, body, "cmpl-{}-0", prompt if isinstance(prompt, list) else tokenize(prompt))


def tokenize(text):
    """Returns a token id per word, in a range that includes all sizes of msgpack's integers up to 32 bits."""
    return [hash(word) % 100 if len(word) < 3 else rng.randrange(150_000) for word in text.split()] or [1]


async def answer(request, body, shape, prompt):
    base = request.headers.get("x-request-id") or body.get("request_id") or uuid.uuid4().hex
    external = shape.format(base)
    headers = {name: request.headers[name] for name in TRACED if name in request.headers}
    engine = app.state.engine
    queue = Stream() if body.get("stream") else Whole()
    internal = await engine.add(external, prompt, body.get("max_tokens", 16), headers, queue)
    truth.write(kind="request", id=internal, request=base, prompt=len(prompt))
    stream = chunks(engine, internal, queue, external)
    if body.get("stream"):
        return StreamingResponse((f"data: {chunk}\n\n" async for chunk in stream), media_type="text/event-stream")
    async for _ in stream:
        pass
    return JSONResponse({"id": external, "seconds": queue.seconds,
                         "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(queue.tokens)}})


async def chunks(engine, internal, queue, external):
    sent, finish = 0, None
    try:
        while finish is None:
            tokens, finish = await queue.get()
            sent += len(tokens)
            yield json.dumps({"id": external, "choices": [{"index": 0, "delta": {"content": f"t{tokens[0]}"},
                                                           "finish_reason": "length" if finish is not None else None}]})
        yield "[DONE]"
    finally:
        engine.tokens.pop(internal, None)
        truth.write(kind="answer", id=internal, tokens=sent, finished=finish is not None)
        if finish is None:
            await asyncio.shield(engine.abort(internal))


def main(port):
    load_general_plugins()
    listener = socket.create_server(("127.0.0.1", port), backlog=1024)
    app.state.port = listener.getsockname()[1]
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="critical")
    uvicorn.Server(config).run(sockets=[listener])
