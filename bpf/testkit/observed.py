# SPDX-License-Identifier: Apache-2.0
"""The data that testkit/check compares: the events that the BPF programs reported to the reader `observe`, and the logs of server.py and of
the stand-ins for CUDA, which say what really happened."""

import collections
import contextlib
import json
import os
import struct
import subprocess
import sys

KIT = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
OBJECTS = os.path.join(HERE, "..", "prebuilt")
RECORD = struct.Struct("<QQQIIHBBiQQQ")
OWNER_KINDS, OWNER_BYTES, SLOT_BOUND, STEP_CHANGES = (403, 404), 88, 405, 406
Event = collections.namedtuple(
    "Event", "start end owner tgid tid kind source flags result amount detail extra text trace span"
)
CALL = struct.Struct("<QQIIiIQQ32s16x")


class Observer:
    """Runs `observe` in a with block. After the block, it has the events and counters. observe.c lists the options. The option flags=HEX
    sets the bits ISPAN_… of settings.h."""

    def __init__(self, *options):
        self.path = os.path.join(KIT, f"events.{os.getpid()}")
        self.process = subprocess.Popen(
            [os.path.join(KIT, "observe"), OBJECTS, self.path, *options], stdout=subprocess.PIPE, text=True
        )
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("observe did not start; its message is above")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        words = [line.split() for line in self.process.stdout.read().splitlines()]
        self.process.wait(30)
        self.counters = {int(word[1]): int(word[2]) for word in words if word[0] == "counter"}
        self.records = next(int(word[1]) for word in words if word[0] == "records")
        self.open_requests = next(int(word[1]) for word in words if word[0] == "open")
        self.context_entries = next(int(word[1]) for word in words if word[0] == "contexts")
        self.canaries = next((int(word[1]) for word in words if word[0] == "canaries"), 0)
        self.verified = {word[1]: int(word[2]) for word in words if word[0] == "verified"}
        self.events = list(self.read())
        os.unlink(self.path)

    def read(self):
        with open(self.path, "rb") as file:
            data = self.data = file.read()
        records = []
        at = 0
        while at < len(data):
            (length,) = struct.unpack_from("<I", data, at)
            records.append(data[at + 4 : at + 4 + length])
            at += 4 + length
        owners = self.owners = {}
        self.changes = collections.defaultdict(list)  # by owner number of a step
        for record in records:
            fields = RECORD.unpack_from(record)
            if fields[5] in OWNER_KINDS:
                owners[fields[2]] = record[64:80].hex(), record[80:88].hex()
        for record in records:
            fields = RECORD.unpack_from(record)
            has_ids = fields[5] in OWNER_KINDS or fields[5] == SLOT_BOUND
            text = record[OWNER_BYTES if has_ids else RECORD.size :].split(b"\0")[0].decode(errors="replace")
            ids = (record[64:80].hex(), record[80:88].hex()) if fields[5] == SLOT_BOUND else owners.get(fields[2], ("", ""))
            if fields[5] == STEP_CHANGES:
                self.changes[fields[2]] += struct.unpack_from("<16Q", record, RECORD.size)
            yield Event(*fields, text, *ids)

    def accounted(self):
        """Returns whether all produced records were read or counted as dropped, and a sentence for the report."""
        produced = sum(n for kind, n in self.counters.items() if kind < 512)
        dropped = sum(n for index, n in self.counters.items() if 512 <= index < 520)
        return produced == self.records + dropped, f"{produced} produced = {self.records} read + {dropped} dropped"


def library(*names):
    return [f"library={os.path.join(KIT, name)}" for name in names]


def kinds_of_functions():
    with open(os.path.join(OBJECTS, "calls.tsv")) as table:
        rows = [line.split() for line in table]
    return {function: int(cookie, 16) & 0xFFFF for _, function, cookie in rows}


def fake_calls(path):
    with open(path, "rb") as file:
        data = file.read(64 + CALL.size * (1 << 20))
    count = struct.unpack_from("<Q", data, 16)[0]
    for i in range(count):
        entry, end, tgid, tid, result, _, amount, detail, name = CALL.unpack_from(data, 64 + i * CALL.size)
        yield entry, end, tgid, tid, result, amount, detail, name.split(b"\0")[0].decode()


class Truth:
    """The log of server.py: which thread or process worked for which traceparent, and when."""

    def __init__(self, path):
        self.spans = collections.defaultdict(list)
        self.started = []
        with open(path) as file:
            for line in map(json.loads, file):
                if line.get("started"):
                    self.started.append((line["tid"], line["from"], line["to"]))
                who = ("tid", line["tid"]) if "tid" in line else ("tgid", line["tgid"])
                self.spans[who].append((line["from"], line["to"], line["traceparent"]))

    def at(self, tgid, tid, time):
        for began, ended, traceparent in self.spans[("tid", tid)] + self.spans[("tgid", tgid)]:
            if began <= time <= ended:
                return traceparent
        return "outside of a request"

    def is_started(self, tid, time):
        """Returns whether a handler started this thread for its request."""
        return any(tid == started and began <= time <= ended for started, began, ended in self.started)

    @staticmethod
    def trace(traceparent):
        """Returns the trace id if the traceparent is valid and sampled, else None."""
        fields = (traceparent or "").split("-")
        return fields[1] if len(fields) == 4 and fields[3] == "01" else None

    def near(self, tgid, tid, start, end):
        """Returns the traces that an event of the thread may have: that of the work which includes the event or, without such work, those
        of the work directly before and after it."""
        spans = sorted(self.spans[("tid", tid)] or self.spans[("tgid", tgid)])
        around = [s for s in spans if s[0] <= start and end <= s[1]]
        before = [s for s in spans if s[0] <= start][-1:]
        after = [s for s in spans if s[1] >= end][:1]
        return {self.trace(s[2]) for s in (around or before + after)}


@contextlib.contextmanager
def server(truth, log, environment=None):
    process = subprocess.Popen(
        [sys.executable, os.path.join(HERE, "server.py"), KIT, truth],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "FAKE_CUDA_LOG": log, **(environment or {})},
    )
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
