# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: what the BPF programs read from the messages between an inference engine and the API server that started it. The
messages list the requests that got tokens in each step. This file also contains the engine and the API server that send them."""

import ctypes
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile

from observed import KIT, Observer, library

LAUNCH, BOUND, CHANGES, FRAMES, LAST, ABORTED, FINISHED = 1, 405, 406, 8, 1, 2, 1 << 57
CANARY = 0x6334_6E34  # every token of prompts and responses; as text ("c4n4"), the value of the trace headers
HEADERS = {"traceparent": "c4n4", "tracestate": "i=c4n4"}
TRACEPARENT = "00-" + "8" * 32 + "-" + "9" * 16 + "-01"
# The layouts of vLLM's releases: the number of fields of a request and of an output.
LAYOUTS = ((10, 7), (11, 9), (13, 9), (15, 10), (14, 11), (15, 12), (16, 13), (18, 14), (17, 14), (20, 13), (21, 16), (22, 18))
HTTP = f"POST / HTTP/1.1\r\nhost: e\r\nx-request-id: a\r\ntraceparent: {TRACEPARENT}\r\ncontent-length: 0\r\n\r\n"


def pack(value):
    """Encodes the needed subset of msgpack."""
    if value is None:
        return b"\xc0"
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xce" + struct.pack(">I", value)
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xA0 | len(text)]) if len(text) < 32 else b"\xd9" + bytes([len(text)])) + text
    if isinstance(value, dict):
        return bytes([0x80 | len(value)]) + b"".join(pack(k) + pack(v) for k, v in value.items())
    head = bytes([0x90 | len(value)]) if len(value) < 16 else b"\xdc" + struct.pack(">H", len(value))
    return head + b"".join(map(pack, value))


def frame(body, more=0):
    size = bytes([more, len(body)]) if len(body) < 256 else bytes([more | 2]) + struct.pack(">Q", len(body))
    return size + body


def added(name, fields, prompt):
    return frame(b"\0", 1) + frame(pack([name, [CANARY] * prompt] + [None] * (fields - 4) + [1.5, HEADERS]))


def outputs(names, finished, fields, seconds):
    finish = 4 if fields < 10 else 5
    rows = [[name, [CANARY]] + [None] * (finish - 2) + ([0] if name in finished else [None]) + [None] * (fields - finish - 2)
            + ([HEADERS] if name in finished else [None]) for name in names]
    return frame(pack([0, rows, {"num_running_reqs": CANARY}, seconds, None, None, None, None]))


def names_of(layout):
    return [f"chatcmpl-a-{layout:08x}", f"{layout % 2}_cmpl-{'b' * 60}-0-{layout:08x}", f"chatcmpl-{'c' * 100}-{layout:08x}"]


def engine(path):
    """The engine: reads messages, launches a kernel and sends outputs, in writes of random sizes."""
    rng = random.Random(5)
    cuda = ctypes.CDLL(f"{KIT}/libcuda.so.1")
    inputs, answers = (socket.socket(socket.AF_UNIX) for _ in range(2))
    inputs.connect(path)
    answers.connect(path)
    while inputs.recv(rng.choice([64, 1000, 8192])):
        pass
    layout = int(os.environ["LAYOUT"])
    cuda.cuLaunchKernel(None, layout + 1, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(0x5100), None, None)
    names = names_of(layout)
    data = outputs(names, names[1:2], LAYOUTS[layout][1], 1000.0 + layout)
    data += outputs(names[:1], names[:1], LAYOUTS[layout][1], 2000.0 + layout)
    at = 0
    while at < len(data):
        at += answers.send(data[at:at + (rng.choice([len(data), 50, 1]) if at else rng.choice([len(data), 12]))])


def serve(path, program):
    """The API server. For each layout, it reads an HTTP request, sends three requests to an engine, and aborts one of them. With program
    "own", it starts the engine itself; otherwise, a shell starts the engine."""
    web, messages = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    messages.bind(path)
    messages.listen()
    print(web.getsockname()[1], flush=True)
    for layout, (fields, _) in enumerate(LAYOUTS):
        environment = {**os.environ, "LAYOUT": str(layout)}
        command = [sys.executable, os.path.abspath(__file__), KIT, "engine", path]
        if program == "own":
            child = subprocess.Popen(command, env=environment)
        else:  # the shell ends, so that the server is not an ancestor of the engine
            subprocess.run(["sh", "-c", '"$@" & ', "-", *command], env=environment)
        inputs, answers = messages.accept()[0], messages.accept()[0]
        client = web.accept()[0]  # not before the engine has started, because it would belong to the request
        client.recv(4096)
        names = names_of(layout)
        inputs.sendall(b"".join(added(name, fields, prompt) for name, prompt in zip(names, (3, 5000, 100)))
                       + frame(b"\1", 1) + frame(pack([names[2], "unknown"])))
        inputs.shutdown(socket.SHUT_WR)
        while answers.recv(65536):
            pass
        client.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        client.close()
        inputs.close()
        answers.close()
        if program == "own":
            child.wait()


def play(program):
    directory = tempfile.mkdtemp()
    with Observer(*library("libcuda.so.1"), f"canary={CANARY}") as observer:
        server = subprocess.Popen([sys.executable, os.path.abspath(__file__), KIT, "serve", os.path.join(directory, "s"), program],
                                  stdout=subprocess.PIPE, text=True)
        port = int(server.stdout.readline())
        for _ in LAYOUTS:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(HTTP.encode())
                client.recv(100)
        code = server.wait(30)
    return observer, code


def messages(report):
    """Checks for every layout which requests are reported to arrive, get tokens and end, and that no prompt or trace header leaves the
    kernel."""
    observer, code = play("own")
    bound = [e for e in observer.events if e.kind == BOUND and e.source == FRAMES]
    changed = [e for e in observer.events if e.kind == CHANGES and e.source == FRAMES]
    owners = list(dict.fromkeys(e.owner for e in bound))
    faults = []
    for layout, (fields, of_output) in enumerate(LAYOUTS):
        owner = owners[layout] if layout < len(owners) else 0
        seen = [(e.amount, e.text, e.detail, e.result) for e in bound if e.owner == owner]
        names = names_of(layout)
        wanted = [(1, names[0], fields, 0), (2, names[1], fields, 0), (3, "", fields, 2)]
        words = [1 | 1 << 32, 2 | 1 << 32 | FINISHED, 3 | 1 << 32, 1 | 1 << 32 | FINISHED]
        last = [(e.amount, e.detail & 0xFFFFFFFF, e.extra) for e in changed if e.owner == owner and e.detail >> 32 & LAST]
        times = [struct.unpack("<Q", struct.pack("<d", seconds + layout))[0] for seconds in (1000.0, 2000.0)]
        aborted = sum(1 for e in changed if e.owner == owner and e.detail >> 32 & ABORTED)
        read = [word for word in observer.changes.get(owner, []) if word]
        launches = [e.amount for e in observer.events if e.kind == LAUNCH and e.owner == owner]
        found = seen, last, read, aborted, launches
        expected = (wanted, [(3, of_output, times[0]), (1, of_output, times[1])], [3 | FINISHED, FINISHED] + words, 2, [layout + 1])
        if found != expected:
            faults.append(f"layout {LAYOUTS[layout]}: {found} instead of {expected}")
    report("messages of an engine", not code and not faults, f"{len(LAYOUTS)} layouts" if not faults else faults[0])
    report("canaries of prompts and trace headers", observer.canaries == 0 and struct.pack(">I", CANARY) not in observer.data
           and struct.pack("<I", CANARY) not in observer.data, f"{observer.canaries} in maps, {len(observer.data)} bytes of records")
    observer, code = play("foreign")
    seen = [e for e in observer.events if e.source == FRAMES or (e.kind == LAUNCH and e.trace == "")]
    report("messages of a process that the API server did not start", not code and not seen, f"{len(seen)} records, expected none")


if __name__ == "__main__":
    if sys.argv[2] == "engine":
        engine(sys.argv[3])
    else:
        serve(*sys.argv[3:5])
