# SPDX-License-Identifier: Apache-2.0
"""Does the work that a request's path describes: /w/MARK/OPENS/CHUNK/CHUNKS/PAD/DELAY/MODE. All servers use this format.

MARK is the request's id. The handler opens OPENS files, and sends CHUNKS pieces of CHUNK bytes. Before each further piece, it waits for
DELAY ms and opens a file. The response has PAD bytes in a header. With MODE "boom", the handler fails before the response.
"""

import collections
import os

MARKS = os.environ["MARKS"]
Work = collections.namedtuple("Work", "mark opens chunk chunks pad delay mode")
NO_REQUEST = Work("r0", 0, 0, 0, 0, 0, "")  # the clients number requests from 1


def work_of(path):
    mark, opens, chunk, chunks, pad, delay, mode = path.split("/")[2:9]
    return Work(mark, int(opens), int(chunk), int(chunks), int(pad), int(delay) / 1000, mode)


def mark(work, number):
    """Makes an operation with a known owner: tries to open a missing file whose name contains the request's id."""
    try:
        os.close(os.open(f"{MARKS}/{work.mark}.{number}", os.O_RDONLY))
    except FileNotFoundError:
        pass


def mark_before_response(work):
    for number in range(work.opens):
        mark(work, number)
    if work.mode == "boom":
        raise RuntimeError("the handler was asked to fail")


def headers(work):
    return {"Content-Length": str(work.chunk * work.chunks), "X-Pad": "p" * work.pad}
