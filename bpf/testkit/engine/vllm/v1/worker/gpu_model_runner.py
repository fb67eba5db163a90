# SPDX-License-Identifier: Apache-2.0
"""The model runner of the stand-in for vLLM. It makes the calls of CUDA and NCCL of each step, and writes the ground truth: which requests
were in the step and how many launches it made."""

import ctypes
import os
import threading
import zlib

from vllm.standin import CONFIG, RELEASE, Communicator, Driver, Truth, monotonic


class ModelRunnerOutput:
    def __init__(self, tokens):
        self.tokens = tokens


class AsyncModelRunnerOutput:
    """The output of a step whose tokens may still be on the device. get_output waits for their copy."""

    def __init__(self, driver, event, output):
        self.driver, self.event, self.output = driver, event, output

    def get_output(self):
        self.driver.wait(self.event)
        return self.output


class GPUModelRunner:
    def __init__(self, rank):
        self.rank, self.driver, self.truth = rank, Driver(), Truth()
        self.prompts, self.step, self.pending = {}, 0, None
        self.communicator = Communicator(rank) if CONFIG["collectives"] else None

    def capture_model(self):
        """Captures a graph of launches."""
        graph = ctypes.c_void_p()
        self.driver.call("cuInit", 0)
        self.driver.call("cuStreamBeginCapture_v2", self.driver.compute, 0)
        for _ in range(CONFIG["layers"]):
            self.driver.launch(1)
        self.driver.call("cuStreamEndCapture", self.driver.compute, ctypes.byref(graph))
        self.driver.call("cuGraphInstantiateWithFlags", ctypes.byref(graph), graph, ctypes.c_uint64(0))

    def execute_model(self, scheduler_output, intermediate_tensors=None):
        if self.pending is not None:
            raise RuntimeError("execute_model was called before sample_tokens of the previous step")
        tokens = scheduler_output.num_scheduled_tokens
        warm = any(request_id.startswith("_warmup_") for request_id in tokens)
        self.step += not warm
        state = {"step": self.step, "begin_ns": monotonic(), "calls": self.driver.calls, "tokens": tokens, "warm": warm}
        state["prefills"] = self.prefills(scheduler_output)
        if not tokens:
            self.write(state, {}, 0)
            return ModelRunnerOutput({})
        self.forward(state)
        self.reduce(state)
        if RELEASE < (0, 11, 2):
            return self.sample(state)
        self.pending = state
        return None

    if RELEASE >= (0, 11, 2):

        def sample_tokens(self, grammar_output):
            state, self.pending = self.pending, None
            return self.sample(state) if state else ModelRunnerOutput({})

    def prefills(self, step):
        for request in step.scheduled_new_reqs:
            self.prompts[request.req_id] = len(request.prompt_token_ids)
        computed = {request.req_id: request.num_computed_tokens for request in step.scheduled_new_reqs}
        cached = step.scheduled_cached_reqs
        if isinstance(cached, list):
            computed.update((request.req_id, request.num_computed_tokens) for request in cached)
        else:
            computed.update(zip(cached.req_ids, cached.num_computed_tokens))
        for request_id in step.finished_req_ids:
            self.prompts.pop(request_id, None)
        return {request_id for request_id in step.num_scheduled_tokens if computed[request_id] < self.prompts[request_id]}

    def forward(self, state):
        """Launches the kernels of a step. From 0.11.0 on, a step that only decodes launches one graph and one kernel. Other steps launch
        a graph and an attention kernel per layer, and a last graph."""
        costs = {}
        for request_id, tokens in state["tokens"].items():
            costs[request_id] = tokens * CONFIG["prefill_ns" if request_id in state["prefills"] else "decode_ns"]
        state["costs"], whole, layers = costs, sum(costs.values()), CONFIG["layers"]
        host = ctypes.create_string_buffer(256)
        self.driver.call("cuMemcpyHtoDAsync_v2", ctypes.c_void_p(0x7F0000000000), host, ctypes.c_size_t(256),
                         self.driver.compute)
        if not state["prefills"] and RELEASE >= (0, 11, 0):
            self.driver.launch_graph()
            self.driver.launch(whole)
            state["launches"] = 2
            return
        for layer in range(layers):
            self.driver.launch_graph()
            self.driver.launch(whole // layers + (whole % layers if layer == 0 else 0))
        self.driver.launch_graph()
        state["launches"] = 2 * layers + 1

    def reduce(self, state):
        sizes = [1024 + number for number in range(CONFIG["collectives"])]
        if self.step == CONFIG["swap"] and self.rank == CONFIG["tp"] - 1:
            sizes[:2] = sizes[1::-1]
        for size in sizes:
            self.communicator.all_reduce(size, self.driver.compute)
        state["launches"] += len(sizes)

    def sample(self, state):
        self.driver.launch(1)
        event = self.driver.copied()
        output = ModelRunnerOutput({i: zlib.crc32(f"{i}{state['step']}".encode()) % 1000 for i in state["tokens"]})
        if not CONFIG["async"]:
            self.driver.wait(event)
        self.write(state, state["costs"], state["launches"] + 1)
        return AsyncModelRunnerOutput(self.driver, event, output) if CONFIG["async"] else output

    def write(self, state, costs, launches):
        if not state["warm"]:
            self.truth.write(kind="step", step=state["step"], rank=self.rank, pid=os.getpid(), tid=threading.get_native_id(),
                             begin_ns=state["begin_ns"], end_ns=monotonic(), tokens=state["tokens"],
                             prefills=sorted(state["prefills"]), costs=costs, launches=launches)
