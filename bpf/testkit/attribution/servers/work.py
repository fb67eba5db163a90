# SPDX-License-Identifier: Apache-2.0
"""Parses the work that a request's path describes, in the same format for all servers: /w/MARK/OPENS/CHUNK/CHUNKS/PAD/DELAY/MODE."""

import collections
import os

MARKS = os.environ["MARKS"]
Work = collections.namedtuple("Work", "mark opens chunk chunks pad delay mode")


def work_of(path):
    mark, opens, chunk, chunks, pad, delay, mode = path.split("/")[2:9]
    return Work(mark, int(opens), int(chunk), int(chunks), int(pad), int(delay) / 1000, mode)


def mark(work, number):
    """Makes an operation with a known owner: tries to open a file that does not exist, and whose name contains the request's id."""
    try:
        os.close(os.open(f"{MARKS}/{work.mark}.{number}", os.O_RDONLY))
    except FileNotFoundError:
        pass


def before(work):
    for number in range(work.opens):
        mark(work, number)
    if work.mode == "boom":
        raise RuntimeError("the handler was asked to fail")


def headers(work):
    return {"Content-Length": str(work.chunk * work.chunks), "X-Pad": "p" * work.pad}
