# SPDX-License-Identifier: Apache-2.0
"""A vLLM plugin that reports the requests in each step of a V1 engine. Its entry point, in the group vllm.general_plugins, is
inferspan = inferspan_vllm:register. If libinferspan_ckp.so is not in this directory, INFERSPAN_CKP must be its path. If the plugin does
not know the release of vLLM, or fails, it logs one line and disables itself. It reads the lengths of prompts, but not their content."""

import array
import functools
import importlib.machinery
import inspect
import logging
import os
import re
import sys
import threading
from ctypes import CDLL, PYFUNCTYPE, c_char_p, c_uint32, c_uint64, c_void_p

logger = logging.getLogger("vllm.inferspan")

# By range of releases [from, before): does sample_tokens end a step, are cached requests a list, do request ids have a random suffix?
RELEASES = (((0, 8, 5), (0, 9, 2), False, True, False), ((0, 9, 2), (0, 11, 1), False, False, False),
            ((0, 11, 2), (0, 14, 0), True, False, False), ((0, 14, 0), (0, 25, 0), True, False, True))
TARGETS = {"vllm.v1.worker.gpu_worker": "Worker", "vllm.v1.worker.gpu_model_runner": "GPUModelRunner",
           "vllm.v1.worker.gpu.model_runner": "GPUModelRunner"}  # Ray calls the runners without a Worker.
METHODS = ("execute_model", "scheduler_output"), ("sample_tokens", "grammar_output")
FIELDS = {"scheduled_new_reqs", "scheduled_cached_reqs", "num_scheduled_tokens", "finished_req_ids"}
WARM_UP, NOT_SUFFIXED = ("_warmup_", "_v2_mixed_warmup"), "VLLM_DISABLE_REQUEST_ID_RANDOMIZATION"
TOKENS, PREFILL, FINISHED, FULL, FULL_EVERY = 32, 1 << 56, 1 << 57, 1, 64
FUNCTIONS = (("bind", c_uint64, c_char_p, c_char_p), ("step_begin", c_uint64, c_void_p, c_uint32, c_uint32), ("step_end", c_uint64))


class Steps:
    """Reports the steps of the launching thread: the changed members of each step, and all members of every 64th step."""
    def __init__(self, library, splits, listed, suffixed):
        for name, *types in FUNCTIONS:  # PYFUNCTYPE, because CDLL would release the GIL, and getting it back can take long.
            setattr(self, name, PYFUNCTYPE(None, *types)(("inferspan_ckp_" + name, library)))
        self.splits, self.listed, self.suffixed = splits, listed, suffixed and os.environ.get(NOT_SUFFIXED) != "1"
        self.enabled, self.local, self.number, self.open, self.last_slot = True, threading.local(), 0, False, 0
        self.slots, self.scheduled, self.prompts, self.prefilling, self.live = {}, {}, {}, set(), {}

    def identity(self, request_id):
        """Returns three ids of a request: the engine's, without the index of a parallel sample; the API server's, which lacks the random
        suffix; and the x-request-id in the API server's id, or None."""
        engine = re.sub(r"^\d+_(?=[a-z])", "", request_id)
        server = re.sub(r"-[0-9a-f]{8}$", "", engine) if self.suffixed else engine
        return engine, server, (match := re.fullmatch(r"cmpl-(.+)-\d+|[a-z]+-(.+)", server)) and (match[1] or match[2])

    def add(self, request_id):
        """Assigns a slot to a request. If two open requests have the same x-request-id, both are ambiguous, and bound to an empty id."""
        self.last_slot = self.slots[request_id] = self.last_slot + 1
        engine, server, base = self.identity(request_id)
        live = self.live.setdefault(server, {})
        live[request_id] = engine
        is_unique = len(set(live.values())) == 1
        for known in [request_id] if is_unique else live:
            self.bind(self.slots[known], base and (base.encode() if is_unique else b""), None)

    def remove(self, request_id):
        server = self.identity(request_id)[1]
        if self.live[server].pop(request_id) and not self.live[server]:
            del self.live[server]
        for known in self.scheduled, self.prompts:
            known.pop(request_id, None)
        return self.slots.pop(request_id)

    def changes(self, output, full):
        """Returns the changes of a step's members as words, or all members if full; see inferspan_ckp_step_begin."""
        words = [self.remove(name) | FINISHED for name in output.finished_req_ids if name in self.slots]
        before, now = self.scheduled, dict(output.num_scheduled_tokens)
        new, cached = output.scheduled_new_reqs, output.scheduled_cached_reqs
        changed = {name for name, tokens in now.items() if before.get(name) != tokens} | self.prefilling & now.keys()
        self.scheduled, self.prefilling = now, set()
        self.prompts.update((request.req_id, len(request.prompt_token_ids or ())) for request in new)
        if changed:
            computed = {request.req_id: request.num_computed_tokens for request in (new + cached if self.listed else new)}
            computed.update(() if self.listed else (pair for pair in zip(cached.req_ids, cached.num_computed_tokens) if pair[0] in changed))
            self.prefilling = {name for name in changed if computed.get(name, 0) < self.prompts.get(name, 0)}
        for name in changed - self.slots.keys():
            self.add(name)
        if not full:
            words += [self.slots[name] for name in before if name not in now]
        return words + [self.slots[name] | now[name] << TOKENS | (PREFILL if name in self.prefilling else 0)
                        for name in (now if full else changed)]

    def begin(self, scheduler_output, *_, **__):
        now, full = scheduler_output.num_scheduled_tokens, self.number % FULL_EVERY == 0
        words = ()  # No list if no member changed, because running the code for it is slow: the CPU's caches have lost it.
        if full or self.prefilling or now != self.scheduled or scheduler_output.finished_req_ids or scheduler_output.scheduled_new_reqs:
            if next(iter(now), "").startswith(WARM_UP):  # A warm-up step has only warm-up requests.
                return
            words = array.array("Q", self.changes(scheduler_output, full))
        self.number, self.open = self.number + 1, True
        self.step_begin(self.number, words.buffer_info()[0] if words else None, len(words), FULL if full else 0)

    def guarded(self, action, *arguments, **named):
        try:
            action(*arguments, **named)
        except Exception as fault:
            self.enabled = False
            logger.warning("Inferspan: steps are no longer reported until the engine restarts, because of %r", fault)

    def wrap(self, original, begins):
        """Wraps execute_model, which begins a step, or sample_tokens. The step ends when one of them returns the result."""
        @functools.wraps(original)
        def wrapper(*arguments, **named):
            if getattr(self.local, "inside", False) or not self.enabled or named.get("dummy_run"):
                return original(*arguments, **named)
            self.local.inside = result = True
            if begins:
                self.guarded(self.begin, *arguments[1:], **named)
            try:
                result = original(*arguments, **named)
                return result
            finally:
                self.local.inside = False
                if self.open and not (begins and self.splits and result is None):
                    self.open = False
                    self.step_end(self.number)
        return wrapper

    def install(self, module):
        from vllm.v1.core.sched.output import SchedulerOutput
        owner, methods = getattr(module, TARGETS[module.__name__]), METHODS[:1 + self.splits]
        if (self.splits != hasattr(owner, "sample_tokens") or FIELDS - SchedulerOutput.__annotations__.keys() or any(
                list(inspect.signature(getattr(owner, name)).parameters)[:2] != ["self", first] for name, first in methods)):
            raise TypeError(f"{owner.__qualname__} does not fit this release of vLLM")
        for name, _ in methods:
            setattr(owner, name, self.wrap(getattr(owner, name), name == METHODS[0][0]))

    def find_spec(self, name, path=None, target=None):
        """Wraps the methods of a target when the process imports its module (an import hook in sys.meta_path)."""
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name in TARGETS else None
        if spec and spec.loader:
            then = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (then(module), self.guarded(self.install, module))
        return spec


def register():
    try:
        import vllm
        release = tuple(int(part or 0) for part in re.match(r"(\d+)\.(\d+)\.?(\d*)", vllm.__version__).groups())
        known = [row[2:] for row in RELEASES if row[0] <= release < row[1]]
        if not known:
            raise LookupError(f"this plugin does not support vLLM {vllm.__version__}; see RELEASES in {__file__}")
        steps = Steps(CDLL(os.environ.get("INFERSPAN_CKP") or os.path.dirname(__file__) + "/libinferspan_ckp.so"), *known[0])
        for name in TARGETS.keys() & sys.modules.keys():
            steps.guarded(steps.install, sys.modules[name])
        sys.meta_path.insert(0, steps)
    except Exception as fault:
        logger.warning("Inferspan: steps are not reported: %s", fault)
