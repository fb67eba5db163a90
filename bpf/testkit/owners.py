# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: the records of the kinds 403 and 404, with which the BPF programs report the beginning and the end of each
sampled request. They contain the ids of the traceparent; 403 also has the x-request-id. Nothing else of a head (request line and headers)
may leave the kernel."""

import socket

from observed import Observer

BEGAN, ENDED, LEFT_OUT = 403, 404, 610
HTTP, CONNECTION, REQUEST = 2, 6, 1
CANARY = b"c4n4ry"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LONGEST = "i" * 96

# Lines of a head; the position at which it is split into two reads, or None; the expected request id, or None if it is omitted.
HEADS = [
    (["X-Request-Id: chatcmpl-1"], None, "chatcmpl-1"),
    (["x-request-id:2"], None, "2"),
    (["x-request-id: \t three \t"], None, "three"),
    (["x-request-id: " + LONGEST], None, LONGEST),
    (["x-request-id:        " + LONGEST + "       "], 110, LONGEST),
    (["x-request-id: " + LONGEST], 60, LONGEST),
    (["x-request-id: " + LONGEST + "j"], None, None),
    (["x-request-id: " + "k" * 400], None, None),
    (["x-request-id: " + "l" * 90 + " " * 20 + "l"], 250, None),
    (["x-request-id: two words"], None, None),
    (["x-request-id: t\u00fcr"], None, None),
    (["x-request-id: nul\0"], None, None),
    (["x-request-id: one", "x-request-id: other"], None, None),
    (["x-request-id: " + "m" * 97, "x-request-id: other"], None, None),
    (["x-request-id:"], None, ""),
    (["x-request-ids: 7"], None, ""),
    ([], None, ""),
]


def head(number, lines):
    text = "\r\n".join([
        f"POST /v1/{CANARY.decode()} HTTP/1.1", f"Cookie: {CANARY.decode()}", *lines,
        f"traceparent: 00-{number:032x}-{number:016x}-01", f"Content-Length: {len(CANARY)}", "", CANARY.decode()])
    return text.encode("latin-1")


def ask(server, client, data, cut):
    for piece in (data[:cut], data[cut:]) if cut else (data,):
        client.sendall(piece)
        server.recv(65536)
    server.sendall(ANSWER)
    client.recv(100)


def owners(report):
    """Checks that every sampled request is announced with its ids and its x-request-id. This includes requests that are read without
    blocking, to which no thread is bound."""
    with Observer("flags=1") as observer:
        for number, (lines, cut, _) in enumerate(HEADS, 1):
            for waits in (True, False):
                server, client = socket.socketpair()
                server.setblocking(waits)
                ask(server, client, head(2 * number + waits, lines), cut)
                server.close()
                client.close()
    wrong, sources = [], set()
    for number, (lines, _, wanted) in enumerate(HEADS, 1):
        for waits in (True, False):
            ids = f"{2 * number + waits:032x}", f"{2 * number + waits:016x}"
            began = [e for e in observer.events if e.kind == BEGAN and (e.trace, e.span) == ids]
            ended = [e.owner for e in observer.events if e.kind == ENDED and (e.trace, e.span) == ids]
            sources |= {(waits, e.source) for e in began}
            if [(e.text, e.result) for e in began] != [(wanted or "", REQUEST)] or ended != [e.owner for e in began]:
                wrong.append(f"{lines}: {[e.text for e in began]}, ended {len(ended)}")
    left_out = 2 * sum(wanted is None for _, _, wanted in HEADS)
    report("heads", not wrong and sources == {(True, HTTP), (False, CONNECTION)}
           and observer.counters.get(LEFT_OUT, 0) == left_out,
           f"{2 * len(HEADS)} heads, {observer.counters.get(LEFT_OUT, 0)} request ids counted as omitted, of {left_out}"
           + "".join(f"; {w}" for w in wrong[:4]))
    report("canary of heads", CANARY not in observer.data and b"chatcmpl-1" in observer.data,
           f"{observer.data.count(CANARY)} times in {len(observer.data)} bytes of records")
