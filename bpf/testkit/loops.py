# SPDX-License-Identifier: Apache-2.0
"""Scenes (test cases) of actor.py with threads that may work for several requests: event loops, thread pools, and threads that pass a
request on to another thread. Work that may belong to any of several requests must not be attributed. Read the name of a scene after
"work …", as in "work when a timer is due"."""

import queue
import select
import threading
import time

from responding import epolled, job
from stage import ANSWER, call, head, in_bare_thread, pair, play, served, trace_id

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def loop_pair():
    """Returns the two ends of a connection whose server reads without blocking, like an event loop."""
    server, client = pair()
    server.setblocking(False)
    return server, client


def reads(server, client, data):
    client.sendall(data)
    server.recv(65536)


def with_neighbour(neighbour):
    """While an unsampled request, the bytes `neighbour`, is open, a sampled request arrives. The unsampled one is answered first."""
    (one, first), (two, second) = loop_pair(), loop_pair()
    reads(one, first, neighbour)
    reads(two, second, head(2))
    call(None)
    one.sendall(ANSWER)
    call(trace_id(2))
    two.sendall(ANSWER)
    served(one, first, head(3), trace_id(3))


@play
def during_an_unsampled_request():
    with_neighbour(head(1, value="00-" + trace_id(1) + "-00f067aa0ba902b7-00"))


@play
def during_a_request_without_a_header():
    with_neighbour(head())


@play
def during_a_stream_without_a_header():
    """The other request is open until the last chunk of its response is written."""
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
def during_a_streamed_response():
    """Waits during a streamed response do not end the request; a wait after its last byte does. The second response is written at once."""
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
def of_a_request_whose_body_is_read_after_the_response():
    """Reading the rest of the body does not end the request; reading the next head does."""
    server, client = pair()
    reads(server, client, head(1, method="POST", extra="Content-Length: 4\r\n"))
    server.sendall(ANSWER)
    reads(server, client, b"body")
    call(trace_id(1))
    served(server, client, head(2), trace_id(2))


UPLOAD = {"method": "POST", "extra": "Content-Length: 4\r\n"}


def answered_early(server, client, data):
    """The server answers before it has read the body."""
    reads(server, client, data)
    server.sendall(ANSWER)


def waits_for(descriptor):
    with select.epoll() as epoll:
        epoll.register(descriptor, select.EPOLLIN)
        epoll.poll()


@play
def of_a_request_that_arrives_with_the_rest_of_a_body():
    """One read returns the body of an answered request and the next head."""
    for earlier in (head(1, **UPLOAD), head(**UPLOAD)):
        server, client = pair()
        answered_early(server, client, earlier)
        served(server, client, b"body" + head(2), trace_id(2))
    (one, first), (two, second) = pair(), pair()
    answered_early(one, first, head(1, **UPLOAD))
    served(two, second, head(2), trace_id(2))
    served(one, first, b"body" + head(3), trace_id(3))


@play
def during_a_request_that_arrived_with_the_rest_of_a_body():
    """As above, but the next head has no traceparent, and a sampled request arrives on another connection."""
    (one, first), (two, second) = loop_pair(), loop_pair()
    answered_early(one, first, head(**UPLOAD))
    reads(one, first, b"body" + head())
    reads(two, second, head(2))
    call(None)
    one.sendall(ANSWER)
    call(trace_id(2))
    two.sendall(ANSWER)


@play
def after_the_rest_of_the_body_of_an_answered_request():
    """The handler of an answered request may continue when the rest of the body arrives. A thread that still has this request
    continues with it."""
    for upload in (head(1, **UPLOAD), head(**UPLOAD)):
        (one, first), (two, second) = loop_pair(), loop_pair()
        answered_early(one, first, upload)
        waits_for(job())
        reads(two, second, head(2))
        call(trace_id(2))
        reads(one, first, b"body")
        call(None)
        two.sendall(ANSWER)
        waits_for(job())
        served(two, second, head(3), trace_id(3))
        answered_early(one, first, upload)
        waits_for(job())
        reads(one, first, b"body" + head(4))
        call(None)
        one.sendall(ANSWER)
        waits_for(job())
        served(one, first, head(5, **UPLOAD), trace_id(5))
        call(trace_id(5))
        reads(one, first, b"body")
        call(trace_id(5))


@play
def before_a_process_ends_without_reading_a_body():
    """The process ends the request, although it does not count as open."""
    server, client = loop_pair()
    answered_early(server, client, head(1, **UPLOAD))
    call(trace_id(1))
    waits_for(job())
    call(None)
    server.detach()  # not closed before the end of the process


@play
def after_a_client_that_went_away():
    """A handler may continue after its client has disconnected."""
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
    """Once the timeout of a loop's last epoll_wait is over, the loop's work may belong to a timer."""
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
def when_a_timer_is_due_before_the_timeout():
    """A loop can compute its timeout from a time that it read before its callbacks, as libuv does. So the timer can be due before the
    timeout of the wait is over."""
    server, client = loop_pair()
    served(server, client, head(1), trace_id(1))
    client.recv(65536)
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        epoll.poll(0.001)
        time.sleep(0.4)
        client.sendall(head(2))
        epoll.poll(0.8)
        server.recv(65536)
        call(trace_id(2))
        time.sleep(0.5)
        call(None)
        server.sendall(ANSWER)


@play
def of_a_pool_that_grew_during_a_request():
    """A pool's new thread that waits for a job no longer works for the request that started it, even while the request continues."""
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
def after_a_hand_over():
    """Once a thread has answered a request that another thread read, the process's requests are not bound to their readers."""
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
def of_a_thread_started_during_another_request():
    """A new thread may belong to a pool and do another request's job. So it works for its starter's request only while that is the
    only open one."""
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
