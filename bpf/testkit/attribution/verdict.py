# SPDX-License-Identifier: Apache-2.0
"""Compares the agent's spans with the requests that the client recorded.

The name of an opened file identifies its request (the test calls this a mark), and so does the grid size of a kernel launch. A send or a
receive on a request's own connection has the size of one of the request's pieces, or of several consecutive ones. The sizes are random,
so they rarely fit another request. Therefore the test can classify each of these operations as right (under its own request), wrong
(under another request), or missed (under no request).
"""

import collections
import itertools
import json

CONNECTION = {"syscall.send", "syscall.write", "syscall.recv", "syscall.read"}


class Tally:
    """Counts operations. Missed ones that Server.may_miss() excuses are only in excused."""

    def __init__(self):
        self.right, self.wrong, self.missed, self.excused = 0, 0, 0, 0

    @property
    def seen(self):
        return self.right / max(1, self.right + self.missed)

    def __str__(self):
        share = f"{100 * self.seen:.2f}" if self.right + self.missed else "-"
        return f"{self.right:6d} {self.wrong:5d} {self.missed:6d} {share:>7}"


def value(attribute):
    return next(iter(attribute["value"].values()))


def spans_of(path):
    with open(path) as lines:
        for line in lines:
            for resource in json.loads(line)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        # The calls of a folded span count as missed: it has only their sums.
                        yield span["traceId"], span["name"], {a["key"]: value(a) for a in span["attributes"]}


def runs(pieces):
    """Returns the number of pieces by the sum of their sizes, for all runs of consecutive pieces."""
    sizes = {}
    for first, last in itertools.combinations(range(len(pieces) + 1), 2):
        sizes.setdefault(sum(pieces[first:last]), last - first)
    return sizes


def judge(truth, spans):
    """Returns, for each server and scenario, two tallies (marks, and operations on the requests' own connections) and examples of wrong
    spans."""
    by_trace = {request.trace: request for request in truth}
    seen = collections.defaultdict(lambda: {"marks": set(), "sent": 0, "received": 0})
    cells = collections.defaultdict(lambda: (Tally(), Tally()))
    examples = collections.defaultdict(list)
    for trace, name, attributes in spans:
        request = by_trace.get(trace)
        if not request:
            continue
        marks, connection = cells[request.cell]
        fault = None
        if name in ("syscall.openat", "cuda.launch"):
            fault = judge_mark(request, mark_of(name, attributes), marks, seen[trace])
        if name in CONNECTION and attributes.get("inferspan.ebpf.fd.kind") == "inet":
            fault = judge_bytes(request, name, attributes, connection, seen[trace])
        if fault:
            examples[request.cell].append(f"{request.kind} {request.mark}: {name} {fault} "
                                          f"({attributes.get('inferspan.ebpf.source')})")
    for request in truth:
        marks, connection = cells[request.cell]
        if request.kind == "sampled":
            count_missed(request, marks, connection, seen[request.trace])
    return cells, examples


def mark_of(name, attributes):
    if name == "cuda.launch":
        owner, number = divmod(int(attributes.get("inferspan.ebpf.cuda.blocks", 0)), 10)
        return f"r{owner}.{number}"
    return attributes.get("file.path", "").rpartition("/")[2]


def judge_mark(request, mark, tally, seen):
    owner, _, number = mark.partition(".")
    if not owner.startswith("r") or not number.isdigit():
        return None
    if owner == request.mark and request.kind == "sampled" and number not in seen["marks"]:
        seen["marks"].add(number)
        tally.right += 1
        return None
    tally.wrong += 1
    return f"of {mark}"


def judge_bytes(request, name, attributes, tally, seen):
    size = int(attributes.get("inferspan.ebpf.bytes", 0))
    if size <= 0:
        return None
    way, pieces = ("sent", request.received) if name in ("syscall.send", "syscall.write") else ("received", request.sent)
    if request.mode == "boom" and way == "sent":
        return None  # the server chooses the response to a failure
    own = int(attributes["process.pid"]) in request.server.pids
    if request.kind == "sampled" and own and size in runs(pieces):
        operations = runs(pieces)[size]
        seen[way] += operations
        tally.right += operations
        return None
    if way == "received" and request.server.partial_reads and size < sum(pieces):
        return None
    if request.kind == "sampled" and any(size in runs(pieces) for pieces in request.server.others(request)):
        return None
    tally.wrong += 1
    return f"of {size} bytes instead of some of {pieces}"


def count_missed(request, marks, connection, seen):
    missed = {"marks": max(0, request.opens + (request.chunks - 1 if request.mode == "plain" else 0) - len(seen["marks"])),
              "sends": max(0, len(request.received) - seen["sent"]),
              "receives": max(0, request.body_pieces - request.shares_read - seen["received"])}
    if request.gone:
        return
    if request.server.may_miss(request):
        marks.excused += missed["marks"]
    else:
        marks.missed += missed["marks"]
    if request.complete:
        connection.missed += missed["sends"] + (0 if request.server.partial_reads else missed["receives"])
