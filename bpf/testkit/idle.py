# SPDX-License-Identifier: Apache-2.0
"""Parts of `check`: while nobody is served no thread is looked at, and nothing of that time is told as a request's."""

import os
import socket
import time

from observed import KIT, Observer, library, server


def pauses(report, requests=30):
    """Between requests nobody looks at the thread: nothing of the pause may be told as a request's."""
    truth, log = os.path.join(KIT, "truth"), os.path.join(KIT, "calls")
    with server(truth, log) as (process, port), Observer(*library("libcuda.so.1"), f"target={process.pid}") as observer:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            for number in range(requests):
                flags = "01" if number % 3 else "00"
                value = f"00-{number + 1:032x}-{number + 1:016x}-{flags}"
                connection.sendall(f"GET /infer HTTP/1.1\r\ntraceparent: {value}\r\n\r\n".encode())
                while not connection.recv(65536).endswith(b"ok"):
                    pass
                time.sleep(0.005)  # the pause that is looked for: how long it is does not matter
    began = {e.trace: e.start for e in observer.events if e.kind == 403}
    told = [e for e in observer.events if e.kind < 400 and e.tgid == process.pid]
    early = [e for e in told if e.start < began[e.trace]]
    report("pauses", len(began) == requests * 2 // 3 and len(told) > 10 * len(began) and not early,
           f"{len(told)} events of {len(began)} requests, {len(early)} began before their request {early[:2] or ''}")
