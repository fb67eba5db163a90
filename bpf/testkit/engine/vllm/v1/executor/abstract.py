# SPDX-License-Identifier: Apache-2.0
"""One process for one GPU, a worker process for each of several."""

import os
from concurrent.futures import Future

from vllm.standin import CONFIG, spawn
from vllm.v1.executor.shm_broadcast import MessageQueue


class Result:
    """A result that is asked for when it is needed."""

    def __init__(self, ask):
        self.result = ask


class UniProcExecutor:
    """The engine itself owns the GPU: its main thread launches."""

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
    """Tells all workers by shared memory; the first one answers."""

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
