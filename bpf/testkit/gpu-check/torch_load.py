# SPDX-License-Identifier: Apache-2.0
"""torch_load.py CKP_LIBRARY [STAND_IN]: runs a small transformer on PyTorch for the measurements of `gpu-check`. The work is done in
requests that are reported with the functions of inferspan_ckp.h (CKP). CKP_LIBRARY is the shared object with these functions.

Prints "ready VERSION DEVICE", or "absent REASON" and exits. Then it responds to each line of input with result lines and "done", or with
"failed REASON":

  counts TRACEPARENT PHASE BATCH GRAPHS   runs a phase of a batch of BATCH sequences with PyTorch's profiler
    -> took NANOS; called NAME COUNT for each CUDA function; device kernels|copies NANOS, the time on the device
  operation TRACEPARENT NAME N PROFILER   runs gemm, layer_norm or softmax N times
    -> operation HOST_NANOS DEVICE_NANOS, per run; DEVICE_NANOS is -1 without the profiler
  tokens SECONDS SHARE PROFILER           generates tokens one by one, without batches, in requests of which SHARE percent are sampled
    -> tokens COUNT NANOS

PHASE is prefill or decode. GRAPHS is 1 to launch CUDA graphs instead of single kernels, else 0. PROFILER is 1 to run PyTorch's profiler,
else 0. STAND_IN is a directory with the test kit's libcudart; if it is given, its functions are called instead of PyTorch.
"""

import collections
import contextlib
import ctypes
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from inferspan_ckp import Ckp  # noqa: E402

PROMPT, STEPS, REQUEST_TOKENS, MARK = 128, 8, 32, "gpu-check request"


class StandIn:
    """A stand-in for a model on PyTorch: makes known CUDA calls in the order in which a model makes them."""

    version, device = "stand-in", "stand-in"

    def __init__(self, path):
        self.library, self.seen = ctypes.CDLL(os.path.join(path, "libcudart.so")), collections.Counter()

    def call(self, name, *arguments):
        self.seen[name] += 1
        getattr(self.library, name)(*arguments)

    def phase(self, name, batch, graphs):
        for _ in range(1 if name == "prefill" else STEPS):
            self.call("cudaMemcpyAsync", None, None, ctypes.c_size_t(8 * batch), 1, None)
            if graphs:
                self.call("cudaGraphLaunch", None, None)
            else:
                for _ in range(5):
                    self.call("cudaLaunchKernel", None, 1, 1, 1, 32, 1, 1, None, ctypes.c_size_t(0), None)
            self.call("cudaMemcpyAsync", None, None, ctypes.c_size_t(8 * batch), 2, None)
            self.call("cudaStreamSynchronize", None)

    def operation(self, name):
        self.call("cudaLaunchKernel", None, 1, 1, 1, 32, 1, 1, None, ctypes.c_size_t(0), None)
        self.call("cudaStreamSynchronize", None)

    def profiled(self, work):
        self.seen.clear()
        work()
        return self.seen, {"kernels": 1000 * self.seen["cudaLaunchKernel"], "copies": 1000 * self.seen["cudaMemcpyAsync"]}


def load_model():
    """Loads PyTorch; returns its inference mode, and a decoder with a KV cache of fixed size."""
    import torch
    from torch import nn
    from torch.nn import functional
    from torch.profiler import ProfilerActivity, profile, record_function

    assert torch.cuda.is_available(), f"torch {torch.__version__} finds no CUDA device"
    layers, width, heads, vocabulary, length, most = 8, 512, 8, 32000, 512, 16

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.register_buffer("cache", torch.zeros(2, most, heads, length, width // heads))

        def forward(self, x, positions, mask):
            batch, count, _ = x.shape
            q, k, v = (part.view(batch, count, heads, -1).transpose(1, 2) for part in self.qkv(self.norms[0](x)).chunk(3, -1))
            for cache, new in zip(self.cache, (k, v)):
                cache[:batch].index_copy_(2, positions, new)
            attended = functional.scaled_dot_product_attention(q, self.cache[0, :batch], self.cache[1, :batch], attn_mask=mask)
            x = x + self.out(attended.transpose(1, 2).reshape(batch, count, width))
            return x + self.down(functional.gelu(self.up(self.norms[1](x))))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))

        def forward(self, tokens, positions):
            mask = torch.arange(length, device=tokens.device)[None] <= positions[:, None]
            x = self.tokens(tokens)
            for layer in self.layers:
                x = layer(x, positions, mask)
            return self.head(x[:, -1]).argmax(-1)

    class Model:
        version, device = torch.__version__, torch.cuda.get_device_name().replace(" ", "_")

        def __init__(self):
            torch.manual_seed(1)
            self.decoder, self.graphs = Decoder().to("cuda", torch.bfloat16).eval(), {}
            matrix = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
            self.operations = {"gemm": lambda: matrix @ matrix, "layer_norm": lambda: functional.layer_norm(matrix, (4096,)),
                               "softmax": lambda: functional.softmax(matrix, -1)}

        def runner(self, count, batch, graphs):
            """Returns the input tensors of a step, and the step, which is captured as a CUDA graph if graphs is 1."""
            key = (count, batch, graphs)
            if key not in self.graphs:
                tokens = torch.zeros(batch, count, dtype=torch.long, device="cuda")
                positions = torch.arange(count, device="cuda")
                step, result = self.decoder, None
                if graphs:
                    side = torch.cuda.Stream()
                    side.wait_stream(torch.cuda.current_stream())
                    with torch.cuda.stream(side):
                        self.decoder(tokens, positions)
                    torch.cuda.synchronize()
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        result = self.decoder(tokens, positions)

                    def step(_tokens, _positions):
                        graph.replay()
                        return result

                self.graphs[key] = tokens, positions, step
            return self.graphs[key]

        def phase(self, name, batch, graphs, steps=STEPS):
            tokens, positions, step = self.runner(PROMPT if name == "prefill" else 1, batch, graphs)
            for _ in range(1 if name == "prefill" else steps):
                chosen = step(tokens, positions).cpu()  # like an engine, copies the tokens to the host and waits
                tokens.copy_(chosen[:, None].expand_as(tokens))

        def operation(self, name):
            self.operations[name]()
            torch.cuda.synchronize()

        def profiled(self, work):
            """Runs the work with PyTorch's profiler; returns the number of CUDA calls by name, and the device's nanoseconds by kind."""
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
                with record_function(MARK):
                    work()
            events = profiler.events()
            on_host = [event for event in events if "CPU" in str(event.device_type)]
            marked = next(event.time_range for event in on_host if event.name == MARK)
            calls = collections.Counter(event.name for event in on_host if re.match("cu(da)?[A-Z]", event.name)
                                        and marked.start <= event.time_range.start <= marked.end)
            device = collections.Counter()
            for event in events:
                if "CUDA" in str(event.device_type) and event.name != MARK:
                    kind = "copies" if event.name.startswith(("Memcpy", "Memset")) else "kernels"
                    device[kind] += int(event.time_range.elapsed_us() * 1000)
            return calls, device

    return torch.inference_mode(), Model()


class Load:
    def __init__(self, model, ckp):
        self.model, self.ckp, self.number = model, ckp, 0

    def run(self, work, traceparent, profiler):
        """Runs the work in a request, if a traceparent is given. Returns its nanoseconds and, with the profiler, its calls and the
        device's nanoseconds."""
        times = []

        def timed():
            with self.ckp.request(traceparent) if traceparent else contextlib.nullcontext():
                times.append(time.monotonic_ns())
                work()
                times.append(time.monotonic_ns())

        calls, device = self.model.profiled(timed) if profiler else (timed(), {})
        return times[1] - times[0], calls, device

    def counts(self, traceparent, phase, batch, graphs):
        def work():
            self.model.phase(phase, int(batch), graphs == "1")

        nanos, calls, device = self.run(work, traceparent, True)
        print(f"took {nanos}")
        for name, count in sorted(calls.items()):
            print(f"called {name} {count}")
        for kind, count in sorted(device.items()):
            print(f"device {kind} {count}")

    def operation(self, traceparent, name, count, profiler):
        def work():
            for _ in range(int(count)):
                self.model.operation(name)

        work()
        nanos, _, device = self.run(work, traceparent, profiler == "1")
        print(f"operation {nanos // int(count)} {sum(device.values()) // int(count) if device else -1}")

    def request(self, share):
        self.number += 1
        sampled = self.number * 37 % 100 < share
        with self.ckp.request(f"00-{os.getpid():016x}{self.number:016x}-{self.number:016x}-0{int(sampled)}"):
            for _ in range(REQUEST_TOKENS // STEPS):
                self.model.phase("decode", 1, False)

    def tokens(self, seconds, share, profiler):
        def work():
            end = time.monotonic() + float(seconds)
            while time.monotonic() < end:
                self.request(int(share))
                made[0] += REQUEST_TOKENS

        made = [0]
        self.request(0)
        nanos, _, _ = self.run(work, None, profiler == "1")
        print(f"tokens {made[0]} {nanos}")


def main():
    try:
        mode, model = (contextlib.nullcontext(), StandIn(sys.argv[2])) if len(sys.argv) > 2 else load_model()
    except (ImportError, AssertionError) as missing:
        return print("absent", missing)
    load = Load(model, Ckp(sys.argv[1]))
    commands = {"counts": load.counts, "operation": load.operation, "tokens": load.tokens}
    with mode:
        print("ready", model.version, model.device, flush=True)
        for line in sys.stdin:
            word, *arguments = line.split()
            try:
                commands[word](*arguments)
                print("done", flush=True)
            except Exception as failure:
                print("failed", type(failure).__name__, " ".join(str(failure).split())[:300], flush=True)


main()
