# SPDX-License-Identifier: Apache-2.0
"""The executors of the stand-in for vLLM. An executor runs the steps: in the engine process if there is one GPU, otherwise in a worker
process per GPU."""

import os
from concurrent.futures import Future

from vllm.standin import CONFIG, spawn
from vllm.v1.executor.shm_broadcast import MessageQueue


class Result:
    """A result that is fetched when result() is called."""

    def __init__(self, fetch):
        self.result = fetch


class UniProcExecutor:
    """Runs the worker in the engine process, whose main thread launches the kernels."""

    def __init__(self):
        from vllm.plugins import load_general_plugins

        load_general_plugins()
        from vllm.v1.worker.gpu_worker import Worker

        self.worker = Worker(0)
        self.worker.compile_or_warm_up_model()

    def call(self, method, *arguments):
        output = getattr(self.worker, method)(*arguments)
        if output is None:
            return None
        return Result(output.get_output) if hasattr(output, "get_output") else done(output)

    def shutdown(self):
        pass


class MultiprocExecutor:
    """Sends calls to all workers over shared memory; the first worker returns the result."""

    def __init__(self):
        name = f"standin-{os.getpid()}"
        self.calls = MessageQueue(f"{name}-calls", readers=CONFIG["tp"])
        self.workers = [spawn("vllm.v1.executor.worker_main", rank, name) for rank in range(CONFIG["tp"])]
        self.answers = [MessageQueue(f"{name}-{rank}", reader=0) for rank in range(CONFIG["tp"])]
        for answers in self.answers:
            answers.dequeue()  # ready

    def call(self, method, *arguments):
        self.calls.enqueue((method, arguments, {}, 0))
        return Result(self.answers[0].dequeue)

    def shutdown(self):
        self.calls.unlink()
        for worker in self.workers:
            worker.kill()
            worker.wait()


def done(output):
    future = Future()
    future.set_result(output)
    return future
