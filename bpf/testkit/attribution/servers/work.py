# SPDX-License-Identifier: Apache-2.0
"""Does the work that a request of the attribution test describes in its path: /w/MARK/OPENS/CHUNK/CHUNKS/PAD/DELAY/MODE.

MARK is the request's id. The handler opens OPENS files, and sends a response body of CHUNKS pieces of CHUNK bytes each. Before each piece
except the first, it waits for DELAY ms and opens a file. The response has PAD bytes in a header. If MODE is "boom", the handler fails
before the response.
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
    """Tries to open a missing file whose name contains the request's id, so that the test knows the request of this system call."""
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
