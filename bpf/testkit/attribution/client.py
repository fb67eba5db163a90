# SPDX-License-Identifier: Apache-2.0
"""The HTTP client of the attribution test. It sends randomised requests on raw sockets, and records the truth: for each request, its mark
(the id in its path, see servers/work.py), its traceparent, and the sizes of the pieces that it sent and received."""

import contextlib
import itertools
import random
import socket
import struct
import threading
import time

numbers = itertools.count(1)
SAMPLED, UNSAMPLED, HEADERLESS = "sampled", "unsampled", "headerless"


class Request:
    """One request: its parameters, and the sizes of the pieces that the client sent and received. `rate` is the probability that the
    request is sampled. If `gone` is true, the client disconnects in the middle of the response. `cell` is the pair of server and
    scenario for which the results are added up."""

    def __init__(self, rng, server, cell, rate=1.0, **asked):
        self.server = server
        other = rng.choice([UNSAMPLED, HEADERLESS])
        self.cell = cell
        self.kind = asked.pop("kind", SAMPLED if rng.random() < rate else other)
        self.mark = f"r{next(numbers)}"
        self.trace, self.span = f"{rng.getrandbits(128) | 1:032x}", f"{rng.getrandbits(64) | 1:016x}"
        self.opens, self.chunks = rng.randrange(1, 4), rng.randrange(1, 4)
        self.chunk, self.pad = rng.randrange(200, 3000), rng.randrange(200, 3000)
        self.delay, self.mode, self.gone = 0, "plain", False
        self.head_pieces, self.body_pieces, self.body_piece = 1, 0, rng.randrange(100, 900)
        self.__dict__.update(asked)
        self.sent, self.received, self.complete = [], [], False
        self.began, self.ended = 0, 0  # as returned by time.time()
        self.shares_read = False  # one read of the server may return the rest of this request's body and the next request

    def pieces(self, rng, prefix, method):
        path = f"{prefix}/w/{self.mark}/{self.opens}/{self.chunk}/{self.chunks}/{self.pad}/{self.delay}/{self.mode}"
        lines = ["Host: localhost", "X-Filler: " + "f" * rng.randrange(900)]
        if method == "POST":
            lines.append(f"Content-Length: {self.body_piece * max(1, self.body_pieces)}")
        if self.kind != HEADERLESS:
            flags = "01" if self.kind == SAMPLED else "00"
            lines.insert(rng.randrange(len(lines) + 1), f"traceparent: 00-{self.trace}-{self.span}-{flags}")
        head = (f"{method} {path} HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode()
        self.head = len(head)
        cuts = [0, *sorted(rng.sample(range(1, len(head)), self.head_pieces - 1)), len(head)]
        parts = [head[a:b] for a, b in zip(cuts, cuts[1:])]
        if method == "POST":
            body = b"b" * self.body_piece
            if self.body_pieces:
                parts += [body] * self.body_pieces
            else:
                parts[-1] += body
        return parts


class Connection:
    """A keep-alive connection, which the next request reopens after a close."""

    def __init__(self, port):
        self.port, self.socket, self.left, self.last = port, None, b"", None

    def close(self, reset=False):
        if self.socket:
            if reset:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.socket.close()
        self.socket, self.left, self.last = None, b"", None

    def more(self):
        got = self.socket.recv(65536)
        if not got:
            raise ConnectionResetError("the server closed the connection")
        self.left += got

    def exchange(self, rng, request, prefix="", method="POST"):
        if not self.socket:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.last and self.last.body_pieces:
            # Not always examined, because that takes long enough for the server to read the rest alone.
            self.last.shares_read = rng.random() < 0.5 or self.has_unread()
        self.last, request.began = request, time.time()
        try:
            self.send(request, request.pieces(rng, prefix, method))
            self.receive(request)
            request.ended = time.time()
        except (ConnectionError, BrokenPipeError):
            self.close()
            if request.mode != "boom":
                raise

    def send(self, request, parts):
        for number, part in enumerate(parts):
            if number:
                self.await_read()
            self.socket.sendall(part)
            request.sent.append(len(part))

    def await_read(self):
        """Waits until the server has read all sent bytes, so that the next piece is a separate read."""
        until = time.monotonic() + 5
        while time.monotonic() < until and self.has_unread():
            time.sleep(0.0005)

    def has_unread(self):
        """Returns whether the server has not yet read all sent bytes."""
        near, far = ("0100007F:%04X" % name[1] for name in (self.socket.getsockname(), self.socket.getpeername()))
        with open("/proc/net/tcp") as sockets:
            line = next((line for line in sockets if f"{far} {near}" in line), None)
        return bool(line) and not line.split()[4].endswith(":00000000")

    def receive(self, request):
        while b"\r\n\r\n" not in self.left:
            self.more()
        head, _, self.left = self.left.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields.get(b"content-length", 0))
        if request.mode == "boom":
            self.close()
            return
        request.received = [len(head) + 4] + [request.chunk] * request.chunks
        if length != request.chunk * request.chunks:
            raise AssertionError(f"{request.mark}: {head[:200]}")
        while len(self.left) < (request.chunk if request.gone else length):
            self.more()
        if request.gone:
            self.close(reset=True)
            return
        self.left = self.left[length:]
        request.complete = True
        if fields.get(b"connection") == b"close":
            self.close()


class Scene:
    """Sends the requests of one scenario to one server."""

    def __init__(self, server, name, port, rng, truth):
        self.server, self.rng, self.port, self.truth = server, rng, port, truth
        self.cell = (server.name, name)
        self.failures = []

    def ask(self, connection, rng, **asked):
        request = Request(rng, self.server, self.cell, **asked)
        self.server.prepare(request)
        self.truth.append(request)
        connection.exchange(rng, request, self.server.prefix, self.server.method)

    def parallel(self, plays):
        """Runs functions in parallel, each with its own connection and random generator."""
        def run(play, seed):
            try:
                with contextlib.closing(Connection(self.port)) as connection:
                    play(connection, random.Random(seed))
            except Exception as failure:  # raised again in the main thread
                self.failures.append(failure)

        threads = [threading.Thread(target=run, args=(play, self.rng.random())) for play in plays]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        if self.failures:
            raise self.failures[0]

    def many(self, clients, requests, fresh=0.0, **asked):
        """Sends requests from several clients in parallel. `fresh` is the probability that a client reconnects before a request."""
        def play(connection, rng):
            for number in range(max(1, requests // clients)):
                if rng.random() < fresh:
                    connection.close()
                chosen = {name: value(rng) if callable(value) else value for name, value in asked.items()}
                if not number and clients == 1:
                    chosen["kind"] = SAMPLED
                self.ask(connection, rng, **chosen)
        self.parallel([play] * clients)


def serial(scene, scale):
    scene.many(1, 40 * scale, fresh=0.2)


def serial_tenth(scene, scale):
    scene.many(1, 60 * scale, fresh=0.2, rate=0.1)


def some(share, one, other):
    return lambda rng: one if rng.random() < share else other


def among_streams(scene, scale, kinds, rate):
    """Sends sequential requests, some of them streams, while long streams of these kinds are open."""
    def stream(kind):
        return lambda connection, rng: [scene.ask(connection, rng, kind=kind, chunks=4, delay=60) for _ in range(scale)]

    def asking(connection, rng):
        for _ in range(10 * scale):
            time.sleep(rng.random() * 0.01)
            scene.ask(connection, rng, rate=rate, delay=rng.choice([0, 0, 10, 20]))
    scene.parallel([*(stream(kind) for kind in kinds), asking])


def neighbours(scene, scale):
    among_streams(scene, scale, [UNSAMPLED, HEADERLESS, UNSAMPLED], 1.0)


def long_streams(scene, scale):
    among_streams(scene, scale, [SAMPLED, SAMPLED, UNSAMPLED], 0.3)


def burst(scene, scale):
    """Eight requests at once, then five in sequence on new and reused connections."""
    for _ in range(scale):
        scene.many(8, 8, chunks=3, delay=lambda rng: rng.randrange(1, 20))
        scene.many(1, 5, fresh=0.5)


def pieces(rng):
    return rng.choice([0, 0, 0, 1, 2])


def overlap(scene, scale):
    scene.many(8, 40 * scale, fresh=0.3, delay=lambda rng: rng.randrange(12), body_pieces=pieces,
               head_pieces=lambda rng: rng.choice([1, 1, 1, 2, 3]))


def overlap_tenth(scene, scale):
    scene.many(16, 80 * scale, fresh=0.3, rate=0.1, delay=lambda rng: rng.randrange(12), body_pieces=pieces)


def faults(scene, scale):
    """Failing handlers and clients that disconnect in the middle of a stream, among normal requests."""
    scene.many(6, 36 * scale, fresh=0.3, rate=0.5, chunks=3, delay=lambda rng: rng.randrange(1, 12),
               mode=some(0.2, "boom", "plain"), gone=some(0.2, True, False))


SCENARIOS = {"serial": serial, "serial 10 %": serial_tenth, "neighbours": neighbours, "long streams": long_streams, "burst": burst, "overlap": overlap,
             "overlap 10 %": overlap_tenth, "faults": faults}
