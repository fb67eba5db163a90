# SPDX-License-Identifier: Apache-2.0
"""The engine process of the stand-in for vLLM. The main thread schedules and executes steps, a second thread reads requests, and a third
one sends outputs."""

import os
import queue
import signal
import sys
import threading
import time
from collections import deque

import msgpack
import zmq

from vllm.plugins import load_general_plugins
from vllm.standin import CONFIG, RELEASE, Truth, address, become
from vllm.v1.core.sched.scheduler import Request, Scheduler
from vllm.v1.engine import frames
from vllm.v1.executor.abstract import MultiprocExecutor, UniProcExecutor

IDENTITY = (0).to_bytes(2, "little")


class EngineCore:
    def __init__(self):
        load_general_plugins()
        self.scheduler, self.inputs, self.outputs = Scheduler(), queue.Queue(), queue.Queue()
        self.executor = UniProcExecutor() if CONFIG["tp"] == 1 else MultiprocExecutor()
        self.in_flight = deque()
        self.most_in_flight = 2 if CONFIG["async"] else 1
        self.truth = Truth()

    def preprocess_add_request(self, request):
        return Request(request), request.get("current_wave") or 0

    def drain(self, block):
        while block or not self.inputs.empty():
            kind, value = self.inputs.get()
            block = False
            if kind == frames.ADD:
                self.scheduler.add(value)
            elif kind == frames.ABORT:
                for request_id in value:
                    self.truth.write(kind="abort", id=request_id, after_step=self.scheduler.step)
                    self.scheduler.finish(request_id)

    def run(self):
        while True:
            self.drain(block=not self.in_flight and not self.scheduler.has_work())
            if self.scheduler.has_work() and len(self.in_flight) < self.most_in_flight:
                self.begin_step()
                if len(self.in_flight) < self.most_in_flight and self.scheduler.has_work():
                    continue
            if self.in_flight:
                self.end_step()

    def begin_step(self):
        step = self.scheduler.schedule()
        step.number = self.scheduler.step
        progress, step.progress = step.progress, None
        result = self.executor.call("execute_model", step)
        if RELEASE >= (0, 11, 2) and step.num_scheduled_tokens:
            result = self.executor.call("sample_tokens", None)
        step.progress = progress
        self.in_flight.append((step, result))

    def end_step(self):
        step, result = self.in_flight.popleft()
        tokens = result.result().tokens
        outputs, at = self.scheduler.update_from_output(step, tokens), time.monotonic()
        self.truth.write(kind="outputs", step=step.number, at_ns=int(at * 1e9),
                         ids=[item[0] for items in outputs.values() for item in items])
        self.outputs.put((outputs, self.stats(), at))

    def stats(self):
        return {"num_running_reqs": len(self.scheduler.running), "num_waiting_reqs": len(self.scheduler.waiting),
                "kv_cache_usage": 0.5, "prefix_cache_stats": {}, "spec_decoding_stats": None}


def handshake(context):
    """Returns the socket of the handshake: HELLO, the addresses, READY."""
    dealer = context.socket(zmq.DEALER)
    dealer.setsockopt(zmq.IDENTITY, IDENTITY)
    dealer.connect(address("handshake"))
    return dealer


def process_input_sockets(core, context):
    dealer = context.socket(zmq.DEALER)
    dealer.setsockopt(zmq.IDENTITY, IDENTITY)
    dealer.connect(address("inputs"))
    dealer.send(msgpack.packb({"vllm_version": CONFIG["release"], "num_gpu_blocks": 64}) if RELEASE >= (0, 23) else b"")
    while True:
        kind, payload = dealer.recv_multipart()[:2]
        if kind == frames.ADD:
            core.inputs.put((kind, core.preprocess_add_request(frames.read_request(payload))[0]))
        else:
            core.inputs.put((kind, msgpack.unpackb(payload)))


def process_output_sockets(core, context):
    push = context.socket(zmq.PUSH)
    push.connect(address("outputs"))
    while True:
        by_client, stats, at = core.outputs.get()
        if not by_client and RELEASE < (0, 10, 2):
            continue
        for items in (by_client or {0: []}).values():
            push.send(frames.outputs(0, [frames.output(*item, None) for item in items], stats, at))


def main():
    become("VLLM::EngineCore")
    context = zmq.Context()
    dealer = handshake(context)
    dealer.send(msgpack.packb({"status": "HELLO", "local": True, "headless": False}))
    dealer.recv()
    core = EngineCore()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    for target in (process_input_sockets, process_output_sockets):
        threading.Thread(target=target, args=(core, context), daemon=True).start()
    dealer.send(msgpack.packb({"status": "READY", "local": True, "headless": False}))
    try:
        core.run()
    finally:
        core.executor.shutdown()
        os._exit(0)


main()
