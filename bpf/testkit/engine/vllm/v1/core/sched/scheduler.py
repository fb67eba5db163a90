# SPDX-License-Identifier: Apache-2.0
"""The scheduler of the stand-in for vLLM: continuous batching with chunked prefill and preemption. For asynchronous scheduling, it counts
the tokens in flight, which a step computes but the scheduler has not received yet."""

import random
from collections import deque

from vllm.standin import CONFIG, RELEASE
from vllm.v1.core.sched.output import CachedRequestData, NewRequestData, OldCachedRequestData, SchedulerOutput

STOP, LENGTH, ABORTED = 0, 1, 2


class Request:
    def __init__(self, fields):
        self.id, self.client = fields["request_id"], fields.get("client_index") or 0
        self.prompt = fields["prompt_token_ids"]
        self.most = fields["sampling_params"]["max_tokens"]
        self.computed = self.emitted = self.in_flight = 0
        self.preemptions = 0  # each of them discards the tokens in flight
        self.known = False  # whether the workers know the request

    @property
    def tokens(self):
        return len(self.prompt) + self.emitted + self.in_flight

    @property
    def waits_for_tokens(self):
        """Returns whether all remaining tokens are in flight."""
        return self.emitted + self.in_flight >= self.most


class Scheduler:
    def __init__(self):
        self.random = random.Random(CONFIG["seed"])
        self.script = {int(step): count for step, count in CONFIG["script"].items()}
        self.waiting, self.running, self.requests = deque(), [], {}
        self.finished, self.step, self.gather = set(), 0, CONFIG["gather"]

    def add(self, request):
        self.requests[request.id] = request
        self.waiting.append(request)

    def has_work(self):
        if len(self.waiting) < self.gather:
            return False
        self.gather = 0
        return bool(self.finished or self.waiting or any(not r.waits_for_tokens for r in self.running))

    def preempt(self):
        request = self.running.pop()
        request.computed = request.in_flight = 0
        request.preemptions += 1
        self.waiting.appendleft(request)
        return request.id

    def preempted_now(self):
        chance = CONFIG["preempt"] and self.random.random() < CONFIG["preempt"]
        wanted = self.script.get(self.step, 1 if chance else 0)
        return {self.preempt() for _ in range(min(wanted, len(self.running) - 1))}

    def schedule(self):
        self.step += 1
        preempted = self.preempted_now()
        budget, scheduled, progress, computed = CONFIG["budget"], {}, {}, {}
        new, resumed = [], set()
        for request in self.running + list(self.waiting):
            tokens = min(request.tokens - request.computed, budget)
            if tokens <= 0 or request.waits_for_tokens or request.id in preempted or len(scheduled) >= CONFIG["most"]:
                continue
            if request.computed == 0 and request in self.waiting:
                self.waiting.remove(request)
                self.running.append(request)
                if request.known:
                    resumed.add(request.id)
                else:
                    new.append(request)
            scheduled[request.id], computed[request.id] = tokens, request.computed
            budget -= tokens
            request.computed += tokens
            progress[request.id] = (request.preemptions, request.computed == request.tokens)
            if request.computed == request.tokens:
                request.in_flight += 1
        finished, self.finished = self.finished, set()
        output = SchedulerOutput([NewRequestData(r.id, r.prompt, computed[r.id]) for r in new],
                                 cached(scheduled, computed, {r.id for r in new}, resumed), scheduled,
                                 sum(scheduled.values()), finished, preempted)
        for request in new:
            request.known = True
        output.progress = progress
        return output

    def update_from_output(self, step, tokens):
        """Returns the outputs of the requests that got a token, by client. A prefill that continues in the next step has no output."""
        outputs = {}
        for request_id, (preemptions, complete) in step.progress.items():
            request = self.requests.get(request_id)
            if request is None or request.preemptions != preemptions or not complete:
                continue
            request.in_flight -= 1
            request.emitted += 1
            finish = LENGTH if request.emitted == request.most else None
            if finish is not None:
                self.finish(request_id)
            outputs.setdefault(request.client, []).append((request_id, [tokens[request_id]], finish))
        return outputs

    def finish(self, request_id):
        request = self.requests.pop(request_id, None)
        if request is None:
            return
        for queue in (self.running, self.waiting):
            if request in queue:
                queue.remove(request)
        if request.known:
            self.finished.add(request_id)


def cached(scheduled, computed, new, resumed):
    ids = [request_id for request_id in scheduled if request_id not in new]
    if RELEASE < (0, 9, 2):
        return [OldCachedRequestData(i, i in resumed, computed[i]) for i in ids]
    return CachedRequestData(ids, resumed, [computed[i] for i in ids])
