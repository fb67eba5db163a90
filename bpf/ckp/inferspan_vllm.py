# SPDX-License-Identifier: Apache-2.0
"""Tells Inferspan which requests each step of a vLLM V1 engine runs. Install it as an entry point of vllm.general_plugins:
inferspan = inferspan_vllm:register. INFERSPAN_CKP names libinferspan_ckp.so if it is not next to this file.

Wraps the worker's execute_model and sample_tokens if they have a shape that was read in vLLM's source. Never raises: what does
not fit, or fails, disables it with one line in the log. Of a prompt, only the length is read.
"""

import array
import ctypes
import functools
import importlib.machinery
import inspect
import logging
import os
import re
import sys
import threading

logger = logging.getLogger("vllm.inferspan")

# From, below: does sample_tokens end the step; are cached requests a list; do ids end in a random suffix.
RELEASES = (((0, 8, 5), (0, 9, 2), False, True, False), ((0, 9, 2), (0, 11, 1), False, False, False),
            ((0, 11, 2), (0, 14, 0), True, False, False), ((0, 14, 0), (0, 25, 0), True, False, True))
TARGETS = {"vllm.v1.worker.gpu_worker": "Worker", "vllm.v1.worker.gpu_model_runner": "GPUModelRunner",
           "vllm.v1.worker.gpu.model_runner": "GPUModelRunner"}  # Ray calls the runner without its worker.
FIELDS = {"scheduled_new_reqs", "scheduled_cached_reqs", "num_scheduled_tokens", "finished_req_ids"}
WARM_UP = ("_warmup_", "_v2_mixed_warmup")
TOKENS, PREFILL, FINISHED, FULL, FULL_EVERY = 32, 1 << 56, 1 << 57, 1, 64


class Steps:
    """The steps of the process's launching thread. Each reports what changed, and now and then all its members."""

    def __init__(self, library, splits, listed, suffixed):
        self.begin_step, self.end_step = library.inferspan_ckp_step_begin, library.inferspan_ckp_step_end
        self.begin_step.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32]
        self.end_step.argtypes = [ctypes.c_uint64]
        self.bind = library.inferspan_ckp_bind
        self.bind.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_char_p]
        self.splits, self.listed, self.suffixed = splits, listed, suffixed
        self.enabled, self.local, self.number, self.open, self.last_slot = True, threading.local(), 0, None, 0
        self.slots, self.scheduled, self.prompts, self.prefilling, self.live = {}, {}, {}, set(), {}

    def identity(self, request_id):
        """Without the index of a parallel sample; what the API server made of x-request-id; x-request-id."""
        engine = re.sub(r"^\d+_(?=[a-z])", "", request_id)
        server = re.sub(r"-[0-9a-f]{8}$", "", engine) if self.suffixed else engine
        match = re.fullmatch(r"cmpl-(.+)-\d+|[a-z]+-(.+)", server)
        return engine, server, match and (match[1] or match[2])

    def add(self, request_id):
        """Gives it a slot. Two live requests with one x-request-id are ambiguous: bound to an empty id."""
        self.last_slot = self.slots[request_id] = self.last_slot + 1
        engine, server, base = self.identity(request_id)
        live = self.live.setdefault(server, {})
        live[request_id] = engine
        clear = len(set(live.values())) == 1
        for known in [request_id] if clear else live:
            self.bind(self.slots[known], base and (base.encode() if clear else b""), None)

    def remove(self, request_id):
        server = self.identity(request_id)[1]
        self.live[server].pop(request_id)
        if not self.live[server]:
            del self.live[server]
        self.prefilling.discard(request_id)
        self.scheduled.pop(request_id, None)
        self.prompts.pop(request_id, None)
        return self.slots.pop(request_id)

    def changes(self, output, full):
        words = [self.remove(name) | FINISHED for name in output.finished_req_ids if name in self.slots]
        before, self.scheduled = self.scheduled, dict(output.num_scheduled_tokens)
        changed = {name for name, _ in self.scheduled.items() - before.items()} | self.prefilling & self.scheduled.keys()
        computed = {}
        for request in output.scheduled_new_reqs:
            self.prompts[request.req_id] = len(request.prompt_token_ids or ())
            computed[request.req_id] = request.num_computed_tokens
        cached = output.scheduled_cached_reqs
        if changed:
            computed.update([(request.req_id, request.num_computed_tokens) for request in cached] if self.listed
                            else zip(cached.req_ids, cached.num_computed_tokens))
        for name in changed:
            if name not in self.slots:
                self.add(name)
            prefill = computed.get(name, 0) < self.prompts.get(name, 0)
            (self.prefilling.add if prefill else self.prefilling.discard)(name)
        if not full:
            words += [self.slots[name] for name in before.keys() - self.scheduled.keys()]
        return words + [self.slots[name] | self.scheduled[name] << TOKENS | (PREFILL if name in self.prefilling else 0)
                        for name in (self.scheduled if full else changed)]

    def begin(self, output):
        if not any(name.startswith(WARM_UP) for name in output.num_scheduled_tokens):
            self.number += 1
            full = self.number % FULL_EVERY == 1
            words = array.array("Q", self.changes(output, full))
            self.begin_step(self.number, words.buffer_info()[0], len(words), FULL if full else 0)
            self.open = self.number

    def end(self):
        number, self.open = self.open, None
        if number is not None:
            self.end_step(number)

    def guarded(self, action, *arguments):
        try:
            if self.enabled:
                action(*arguments)
        except Exception as fault:
            self.enabled = False
            logger.warning("Inferspan: steps are not reported any more: %r", fault)

    def wrap(self, original, ends):
        """The outermost execute_model begins a step; what `ends` says of its result, or else sample_tokens, ends it."""

        @functools.wraps(original)
        def wrapper(*arguments, **named):
            if getattr(self.local, "inside", False) or not self.enabled or named.get("dummy_run"):
                return original(*arguments, **named)
            self.local.inside = done = True
            if ends:
                self.guarded(lambda: self.begin(arguments[1] if len(arguments) > 1 else named["scheduler_output"]))
            try:
                result = original(*arguments, **named)
                done = not ends or ends(result)
                return result
            finally:
                self.local.inside = False
                if done:
                    self.guarded(self.end)

        return wrapper

    def install(self, module):
        from vllm.v1.core.sched.output import SchedulerOutput
        owner = getattr(module, TARGETS[module.__name__])
        if self.splits != hasattr(owner, "sample_tokens") or FIELDS - SchedulerOutput.__annotations__.keys():
            raise TypeError(f"{owner.__qualname__} does not fit this release of vLLM")
        for name, first, ends in (("execute_model", "scheduler_output", lambda result: not self.splits or result is not None),
                                  ("sample_tokens", "grammar_output", None))[:1 + self.splits]:
            function = getattr(owner, name)
            if list(inspect.signature(function).parameters)[:2] != ["self", first]:
                raise TypeError(f"{function.__qualname__} does not fit this release of vLLM")
            setattr(owner, name, self.wrap(function, ends))

    def find_spec(self, name, path=None, target=None):
        """As an import hook: wraps a target once the process itself imports it."""
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name in TARGETS else None
        if spec and spec.loader:
            execute = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (execute(module), self.guarded(self.install, module))
        return spec


def register():
    try:
        import vllm
        release = tuple(int(part) for part in re.match(r"(\d+)\.(\d+)\.?(\d*)", vllm.__version__).groups(default="0") if part)
        known = [row[2:] for row in RELEASES if row[0] <= release < row[1]]
        if not known:
            raise LookupError(f"vLLM {vllm.__version__} is not in the table of releases")
        path = os.environ.get("INFERSPAN_CKP") or os.path.join(os.path.dirname(__file__), "libinferspan_ckp.so")
        steps = Steps(ctypes.CDLL(path), *known[0])
        steps.suffixed &= os.environ.get("VLLM_DISABLE_REQUEST_ID_RANDOMIZATION") != "1"
        for name in TARGETS.keys() & sys.modules.keys():
            steps.guarded(steps.install, sys.modules[name])
        sys.meta_path.insert(0, steps)
    except Exception as fault:
        logger.warning("Inferspan: steps are not reported: %s", fault)
