# SPDX-License-Identifier: Apache-2.0
"""Scenes of threads that may have several requests: event loops, pools, hand-overs. What cannot be known to be a request's is none's."""

import queue
import select
import threading
import time

from behind import epolled, job
from stage import ANSWER, call, head, in_bare_thread, pair, play, served, trace_id

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def loop_pair():
    """A connection as event loops have them: its reads do not wait."""
    server, client = pair()
    server.setblocking(False)
    return server, client


def reads(server, client, data):
    client.sendall(data)
    server.recv(65536)


def with_neighbour(neighbour):
    """A request that is not sampled is in flight when a sampled one comes, and is answered before it."""
    (one, first), (two, second) = loop_pair(), loop_pair()
    reads(one, first, neighbour)
    reads(two, second, head(2))
    call(None)
    one.sendall(ANSWER)
    call(trace_id(2))
    two.sendall(ANSWER)
    served(one, first, head(3), trace_id(3))


@play
def next_to_an_unsampled_request():
    with_neighbour(head(1, value="00-" + trace_id(1) + "-00f067aa0ba902b7-00"))


@play
def next_to_a_request_without_a_header():
    with_neighbour(head())


@play
def beside_a_stream_without_a_header():
    """It goes on behind its first bytes, until its last chunk."""
    (one, first), (two, second) = loop_pair(), loop_pair()
    reads(one, first, head())
    one.sendall(CHUNKED + b"2\r\nok\r\n")
    reads(two, second, head(2))
    call(None)
    one.sendall(b"2\r\n0\n\r\n")
    call(None)
    one.sendall(b"0\r\n\r\n")
    call(trace_id(2))
    two.sendall(ANSWER)


@play
def streamed():
    """A streamed answer's waits do not end it; its last byte does, once the thread looks for something else."""
    server, client = pair()
    for opening, last in ((CHUNKED, b"0\r\n\r\n"), (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", b"")):
        reads(server, client, head(1))
        server.sendall(opening + b"2\r\nok\r\n")
        if last:
            epolled(job())
            call(trace_id(1))
            server.sendall(last)
        call(trace_id(1))
        epolled(job())
        call(None)


@play
def after_a_client_that_went_away():
    """What worked for it may go on."""
    (one, first), (two, second) = loop_pair(), loop_pair()
    reads(one, first, head())
    one.sendall(CHUNKED)
    first.close()
    one.close()
    reads(two, second, head(2))
    call(None)
    two.sendall(ANSWER)


@play
def when_a_timer_is_due():
    """A loop said how long it would wait: what it does from then on may be its timer's."""
    server, client = loop_pair()
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        client.sendall(head(1))
        epoll.poll(0.5)
        server.recv(65536)
        call(trace_id(1))
        time.sleep(0.5)
        call(None)
        server.sendall(ANSWER)
        client.sendall(head(2))
        epoll.poll()
        server.recv(65536)
        call(trace_id(2))
        server.sendall(ANSWER)


@play
def of_a_pool_that_grew_inside_a_request():
    """Its next job is another's, though the request that it grew in goes on."""
    jobs, done = queue.Queue(), queue.Queue()

    def work():
        while trace := jobs.get():
            call(trace[0])
            done.put(None)

    server, client = pair()
    reads(server, client, head(1))
    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(2):
        time.sleep(0.05)  # lets the thread wait for a job
        jobs.put((None,))
        done.get()
    jobs.put(None)
    thread.join()
    call(trace_id(1))
    server.sendall(ANSWER)


@play
def handed_over():
    """Once a thread has answered what another read, what a thread reads says nothing about what it does."""
    server, client = pair()
    go, gone = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (go.wait(), server.sendall(ANSWER), gone.set()))
    thread.start()
    reads(server, client, head())
    go.set()
    gone.wait()
    thread.join()
    served(server, client, head(2), None)


@play
def started_beside_another():
    """A thread may be of a pool, and have another's job: it is believed while there is no other."""
    (one, first), (two, second) = pair(), pair()
    reads(one, first, head(1))
    in_bare_thread(lambda: call(trace_id(1)))

    def other():
        reads(two, second, head())
        ready.set()
        go.wait()
        two.sendall(ANSWER)

    ready, go = threading.Event(), threading.Event()
    neighbour = threading.Thread(target=other)
    neighbour.start()
    ready.wait()
    in_bare_thread(lambda: call(None))
    call(trace_id(1))
    go.set()
    neighbour.join()
    one.sendall(ANSWER)
