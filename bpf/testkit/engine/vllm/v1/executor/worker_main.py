# SPDX-License-Identifier: Apache-2.0
"""worker_main.py RANK NAME: a worker process of the stand-in for vLLM. The main thread launches kernels. Another thread waits for outputs
that are still on the device, and sends them to the engine process. NAME is the prefix of the message queues."""

import queue
import sys
import threading

from vllm.plugins import load_general_plugins
from vllm.standin import become
from vllm.v1.executor.shm_broadcast import MessageQueue


def copy_outputs(outputs, answers):
    while True:
        output = outputs.get()
        answers.enqueue(output.get_output() if hasattr(output, "get_output") else output)


def main(rank, name):
    become(f"VLLM::Worker_TP{rank}")
    load_general_plugins()
    from vllm.v1.worker.gpu_worker import Worker

    answers = MessageQueue(f"{name}-{rank}", readers=1)
    calls = MessageQueue(f"{name}-calls", reader=rank)
    worker = Worker(rank)
    worker.compile_or_warm_up_model()
    outputs = queue.Queue()
    threading.Thread(target=copy_outputs, args=(outputs, answers), name="WorkerAsyncOutputCopy", daemon=True).start()
    answers.enqueue("ready")
    while True:
        method, arguments, named, answering = calls.dequeue()
        output = getattr(worker, method)(*arguments, **named)
        if output is None:
            continue  # execute_model returns no result, but sample_tokens does
        if rank == answering:
            outputs.put(output)
        elif hasattr(output, "get_output"):
            output.get_output()


main(int(sys.argv[1]), sys.argv[2])
