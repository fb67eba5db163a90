# SPDX-License-Identifier: Apache-2.0
"""The worker of a rank in the stand-in for vLLM. Its methods have the names of those that the plugin wraps in vLLM's worker."""

from vllm.standin import RELEASE
from vllm.v1.core.sched.output import CachedRequestData, NewRequestData, SchedulerOutput
from vllm.v1.worker.gpu_model_runner import GPUModelRunner


class Worker:
    def __init__(self, rank):
        self.rank = rank
        self.model_runner = GPUModelRunner(rank)

    def execute_model(self, scheduler_output):
        return self.model_runner.execute_model(scheduler_output)

    if RELEASE >= (0, 11, 2):

        def sample_tokens(self, grammar_output):
            return self.model_runner.sample_tokens(grammar_output)

    def compile_or_warm_up_model(self):
        self.model_runner.capture_model()
        if RELEASE >= (0, 19, 1):
            ids = ["_warmup_0_", "_warmup_1_"]
            cached = CachedRequestData()
            warm = SchedulerOutput([NewRequestData(i, [1, 2], 0) for i in ids], cached, {i: 2 for i in ids}, 4, set())
            if self.execute_model(warm) is None:
                self.sample_tokens(None)
