# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: a server that handles interleaved requests on several connections."""

import collections
import contextlib
import os
import random
import socket
import time
from concurrent.futures import ThreadPoolExecutor

from observed import KIT, Observer, Truth, fake_calls, kinds_of_functions, library, server

RECEIVE, SEND, OFF_CPU = 202, 203, 301
CALLED_TWICE, HEADS, CONTINUED = 524, 600, 605
REQUESTS_BEGAN, REQUESTS_ENDED, INTERLEAVED, UNATTRIBUTED = 620, 621, 623, 625


def request_of(rng, number):
    """Returns a random request in pieces, which are split inside its head."""
    trace, span = f"{rng.getrandbits(128) | 1:032x}", f"{rng.getrandbits(64) | 1:016x}"
    kind = rng.choice(["sampled"] * 6 + ["unsampled", "none", "broken"])
    flags = "01" if kind == "sampled" else "00"
    value = f"00-{trace}-{span}-{flags}" if kind != "broken" else f"00-{trace}-{span}"
    name = rng.choice(["traceparent", "Traceparent", "TRACEPARENT"])
    path = rng.choice(["/infer"] * 4 + ["/runtime", "/graph", "/thread", "/fork", "/exec"])
    lines = ["Host: localhost", "Accept: */*", f"X-Number: {number}", "Cookie: " + "c" * rng.randrange(2000)]
    body = "p" * rng.choice([0, 0, 100, 20000])
    if kind != "none":
        lines.insert(rng.randrange(len(lines)), f"{name}: {value}")
    if body:
        lines.append(f"Content-Length: {len(body)}")
    data = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n"
    cuts = sorted(rng.sample(range(1, len(data)), rng.choice([0, 0, 1, 3])))
    data += body
    edges = [0] + cuts + [len(data)]
    return [data[a:b].encode() for a, b in zip(edges, edges[1:])]


def converse(port, seed, requests):
    rng = random.Random(seed)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(requests):
            for piece in request_of(rng, number):
                connection.sendall(piece)
                # A pause lets the server read this piece alone; the attribution must not depend on it.
                time.sleep(rng.choice([0, 0.002]))
            answer = b""
            while not answer.endswith(b"\r\n\r\nok"):
                got = connection.recv(65536)
                if not got:
                    raise ConnectionError("the server closed the connection")
                answer += got
        # The server's last write may return after the client has received all bytes, so wait until the server closes.
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def interleaved(report, seed, connections=8, requests=25):
    """Compares the device calls of a server with interleaved requests with the stand-in's log."""
    truth, log = os.path.join(KIT, "truth"), os.path.join(KIT, "calls")
    for path in (truth, log):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    with server(truth, log) as (process, port), Observer(
        *library("libcuda.so.1", "libcudart.so"), f"target={process.pid}"
    ) as observer:
        with ThreadPoolExecutor(connections) as clients:
            list(clients.map(lambda i: converse(port, seed + i, requests), range(connections)))  # list() raises a client's exception.
    known, kinds = Truth(truth), kinds_of_functions()
    right, missing, shared, wrong, unwatched = 0, [], [], [], set()
    events = collections.defaultdict(list)
    for event in observer.events:
        if event.kind < 200:
            events[(event.tid, event.kind)].append(event)
    for entry, end, tgid, tid, result, amount, detail, name in fake_calls(log):
        if name.startswith("cuda"):
            continue
        if name not in kinds:
            unwatched.add(name)
            continue
        kind = kinds[name]
        if name == "cuMemcpyAsync":
            kind = 4  # device to host: the programs take the direction from the runtime call around this driver call
        wanted = known.trace(known.at(tgid, tid, entry))
        around = [e for e in events[(tid, kind)] if e.start <= entry and end <= e.end]
        for event in around:
            events[(tid, kind)].remove(event)
        if [e.trace for e in around] == ([wanted] if wanted else []):
            same = all(e.amount == amount and e.result == result for e in around)
            right += 1 if same else 0
            if not same:
                wrong.append(f"{name}: {around} instead of {amount}")
        elif around:
            wrong.append(f"{name}: {[e.trace for e in around]} instead of {wanted}")
        else:
            # A thread that a handler started may belong to a pool, so its work is not attributed while other requests are open.
            (shared if known.is_started(tid, entry) else missing).append(name)
    left = [e for rest in events.values() for e in rest]
    report("device calls", right > 500 and not missing and not wrong and not left and not unwatched,
           f"{connections * requests} requests on {connections} connections (seed {seed}): {right} calls as logged, "
           f"{len(missing)} missing, {len(wrong)} wrong, {len(left)} unexpected {(wrong + missing + left)[:3] or ''}"
           + (f", functions without a probe: {sorted(unwatched)}" if unwatched else ""))
    unattributed = observer.counters.get(UNATTRIBUTED, 0)
    report("calls of started threads", unattributed >= len(shared) > 0,
           f"{len(shared)} not attributed, because other requests were open; {unattributed} operations counted as unattributed")
    report("runtime and driver", observer.counters.get(CALLED_TWICE, 0) > 0,
           f"{observer.counters.get(CALLED_TWICE, 0)} runtime calls omitted, because the driver call inside was reported")
    strays = [e for e in observer.events
              if 200 <= e.kind < 400 and (e.tgid == process.pid or ("tid", e.tid) in known.spans)
              and e.trace not in known.near(e.tgid, e.tid, e.start, e.end)]
    count = collections.Counter(e.kind for e in observer.events if 200 <= e.kind < 400)
    report("system calls and scheduler", not strays and count[RECEIVE] > 0 and count[SEND] > 0 and count[OFF_CPU] > 0,
           f"{sum(count.values())} events of kinds {dict(sorted(count.items()))}, {len(strays)} under a wrong trace {strays[:2] or ''}")
    began, ended = observer.counters.get(REQUESTS_BEGAN, 0), observer.counters.get(REQUESTS_ENDED, 0)
    report("requests", began == ended > 0 and observer.counters.get(HEADS) == connections * requests
           and observer.counters.get(CONTINUED, 0) > 0 and not observer.counters.get(INTERLEAVED, 0),
           f"{observer.counters.get(HEADS, 0)} heads, {observer.counters.get(CONTINUED, 0)} reads that continued a head; "
           f"{began} requests began and {ended} ended")
    report("accounting of requests", *observer.accounted())
