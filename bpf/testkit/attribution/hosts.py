# SPDX-License-Identifier: Apache-2.0
"""Starts the servers of the attribution test, and defines which of their operations must be attributed to requests. An operation is a
system call or a kernel launch."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVERS = os.path.join(HERE, "servers")

# The kind of a server determines which operations of a request must have a span:
# - THREAD, a thread per request: all operations.
# - LOOP, an event loop: all operations of sequential requests; of overlapping requests, those on the request's own connection.
# - POOL, a thread pool, user-level threads, or an event loop with a timer: operations on the request's own connection.
THREAD, LOOP, POOL = "thread", "loop", "pool"


class Server:
    method, prefix = "POST", ""

    def __init__(self, name, kind, command, needs=None, partial_reads=False):
        """With partial_reads, one read may return only a part of a sent piece, so the sizes of reads do not identify the request."""
        self.name, self.kind, self.start, self.needs = name, kind, command, needs
        self.partial_reads = partial_reads
        self.pids = set()

    def missing(self, directory):
        """Returns why the server cannot run here, or None."""
        return self.needs(directory) if self.needs else None

    def prepare(self, request):
        pass

    def others(self, request):
        """Returns lists of the sizes of the pieces on the server's connections to a backend, one list per direction."""
        return []

    def command(self, directory):
        return self.start(directory)

    @contextlib.contextmanager
    def running(self, directory):
        environment = {**os.environ, "MARKS": os.path.join(directory, "marks"), "PYTHONDONTWRITEBYTECODE": "1",
                       "GOMAXPROCS": "2"}
        with subprocess.Popen(self.command(directory), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                              text=True, cwd=directory) as process:
            try:
                yield self.port_of(process)
            finally:
                self.pids |= family(process.pid)
                process.terminate()
                try:
                    process.wait(10)
                    self.ended(process)
                except subprocess.TimeoutExpired:
                    process.kill()

    def ended(self, process):
        pass

    def may_miss(self, request):
        """Returns whether missed marks of this request do not count."""
        return False

    def port_of(self, process):
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with status {process.wait()} before it listened")
        return int(line)


def is_sequential(request):
    return request.cell[1].startswith("serial")


def family(pid):
    """Returns a process and its descendants."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return {pid}.union(*(family(int(child)) for child in children))


class Ticking(Server):
    """An event loop with a timer of its own. Some sequential requests follow after a pause, in which the loop waits. The others follow
    at once, so the loop may only poll."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.pauses = []

    def prepare(self, request):
        if is_sequential(request) and request.chunk % 4 == 0:
            time.sleep(0.003)
            self.pauses.append(time.time())

    def may_miss(self, request):
        """The programs attribute no work while the loop's timer may be due: from 2 ms before, because timeouts are whole milliseconds,
        until the loop waits after the tick."""
        return is_sequential(request) and any(due - 0.002 <= request.ended and request.began <= self.next_pause(tick)
                                              for due, tick in self.ticks(request))

    def next_pause(self, tick):
        return next((pause for pause in self.pauses if pause > tick + 0.0015), float("inf"))

    def ticks(self, request):
        """Returns pairs of times: when the timer may be due, and when it has run."""
        raise NotImplementedError


class Uvicorn(Ticking):
    """Has a timer every 100 ms, and prints the times of its ticks when it ends."""

    printed = []

    def ended(self, process):
        self.printed = [float(tick) for tick in process.stdout.read().split()]

    def ticks(self, request):
        return [(before + 0.1, tick) for before, tick in zip(self.printed, self.printed[1:])]


class Node(Ticking):
    """Has a timer at each whole second, for the header Date."""

    def ticks(self, request):
        last = int(request.ended + 0.005)
        return [(second - 0.001, second + 0.001) for second in range(int(request.began) - 1, last + 1)]


class Timed(Server):
    """An event loop with a timer. Waits before each sequential request, so that they arrive at different times of the timer's period."""

    def prepare(self, request):
        if is_sequential(request):
            time.sleep(request.chunk % 20 / 1000)


class Nginx(Server):
    """nginx, which answers each request with a file of its own. The file's name begins with the request's mark."""

    method = "GET"

    def __init__(self, name):
        super().__init__(name, THREAD, None, program("nginx"))

    def prepare(self, request):
        request.opens, request.chunks, request.mode, request.body_pieces = 1, 1, "plain", 0
        with open(f"{self.marks}/{request.mark}.0", "wb") as file:
            file.write(b"c" * request.chunk)

    def command(self, directory):
        self.marks = os.path.join(directory, "marks")
        return self.configured(directory, "nginx.conf", {})

    def configured(self, directory, template, values):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        with open(os.path.join(SERVERS, template)) as file:
            text = file.read()
        for name, value in {"DIRECTORY": directory, "PORT": str(self.port), **values}.items():
            text = text.replace(name, value)
        with open(os.path.join(directory, template), "w") as file:
            file.write(text)
        return ["nginx", "-p", directory, "-c", os.path.join(directory, template)]

    def port_of(self, process):
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return self.port
        raise RuntimeError(f"nginx ended with status {process.returncode}")


class Proxy(Nginx):
    """nginx in front of http.server, which opens the files. The traffic between the two belongs to the request, too."""

    method = "POST"

    def prepare(self, request):
        pass

    @contextlib.contextmanager
    def running(self, directory):
        with Server("", THREAD, python("threads.py")).running(directory) as self.backend, super().running(directory) as port:
            yield port

    def command(self, directory):
        return self.configured(directory, "proxy.conf", {"BACKEND": str(self.backend)})

    def others(self, request):
        if not request.received:
            return []
        head, *chunks = request.received
        return [[request.head, sum(request.sent) - request.head], [head - len("Connection: keep-alive\r\n"), *chunks]]


def program(name):
    return lambda directory: None if shutil.which(name) else f"{name} is not installed"


def python(file, *arguments):
    return lambda directory: [sys.executable, os.path.join(SERVERS, file), *arguments]


def node(*arguments):
    return lambda directory: ["node", os.path.join(SERVERS, "node.js"), *arguments]


def module(name):
    def needs(directory):
        found = subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True)
        return f"python3 lacks one of {name}" if found.returncode else None
    return needs


def java():
    found = subprocess.run([os.path.join(HERE, "..", "..", "..", "samples", "find-jdk")], capture_output=True, text=True)
    return os.path.join(found.stdout.strip(), "bin", "java")


JVM = "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"


def jdk(kind):
    return lambda directory: [java(), *JVM, "-cp", f"{directory}/kit/jdk", "JdkServer", kind]


def netty(directory):
    with open(f"{directory}/kit/netty.jars") as jars:
        path = jars.read().strip()
    return [java(), *JVM, "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
            "-cp", f"{directory}/kit/netty:{path}", "NettyServer"]


def built(name):
    return lambda directory: None if os.path.exists(f"{directory}/kit/{name}") else f"{name} could not be built"


UVICORN = "uvicorn, uvloop, httptools, fastapi"

ALL = [
    Server("http.server", THREAD, python("threads.py")),
    Server("http.server, pool", POOL, python("threads.py", "pool")),
    Server("asyncio", LOOP, python("streams.py")),
    Timed("asyncio, timer", POOL, python("streams.py", "timer")),
    Timed("asyncio, poll", POOL, python("streams.py", "timer", "poll")),
    Uvicorn("uvicorn, uvloop", LOOP, python("uvloop_app.py"), module(UVICORN)),
    Timed("uvicorn, timer", POOL, python("uvloop_app.py", "timer"), module(UVICORN)),
    Server("uvicorn, threads", POOL, python("uvloop_app.py", "threads"), module(UVICORN)),
    Node("node", LOOP, node(), program("node")),
    Timed("node, timer", POOL, node("timer"), program("node")),
    Nginx("nginx"),
    Proxy("nginx, proxy"),
    Server("jdk, threads", THREAD, jdk("platform"), built("jdk"), partial_reads=True),
    Server("jdk, virtual", POOL, jdk("virtual"), built("jdk"), partial_reads=True),
    Server("netty", LOOP, netty, built("netty.jars"), partial_reads=True),
    Server("engine", POOL, lambda directory: [sys.executable, os.path.join(SERVERS, "engine.py"), "app", directory,
                                              f"{directory}/kit/libraries"], module("zmq, " + UVICORN)),
    Server("go", POOL, lambda directory: [f"{directory}/kit/nethttp"], built("nethttp")),
]
