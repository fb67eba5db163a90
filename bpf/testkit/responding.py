# SPDX-License-Identifier: Apache-2.0
"""Scenes (test cases) of actor.py that continue after a response has begun: which threads still work for the request, and which wait for
other work?"""

import os
import select
import socket
import threading
import time

from stage import ANSWER, HERE, call, head, in_thread, pair, play, served, trace_id, traceparent

from inferspan_ckp import Ckp


def answered(number):
    """Returns the two ends of a connection whose request has been answered, and still belongs to the thread."""
    server, client = pair()
    served(server, client, head(number), trace_id(number))
    call(trace_id(number))
    return server, client


def job():
    """Returns a readable descriptor, which stands for other work."""
    reading, writing = os.pipe()
    os.write(writing, b"x")
    return reading


def polled(descriptor, events=select.POLLIN):
    poll = select.poll()
    poll.register(descriptor, events)
    poll.poll(1000)


def epolled(descriptor):
    with select.epoll() as epoll:
        epoll.register(descriptor, select.EPOLLIN)
        epoll.poll(1)


@play
def another_job_by_epoll():
    server, client = answered(1)
    epolled(job())
    call(None)
    in_thread(lambda: call(None))
    select.select([], [], [], 0.001)
    call(None)
    served(server, client, head(2), trace_id(2))


@play
def another_job_by_poll():
    server, client = answered(1)
    polled(job())
    call(None)
    served(server, client, head(2), trace_id(2))


@play
def another_job_by_select():
    server, client = answered(1)
    select.select([job()], [], [], 1)
    call(None)


@play
def another_job_among_several():
    server, client = answered(1)
    poll = select.poll()
    poll.register(server, select.POLLIN)
    poll.register(job(), select.POLLIN)
    poll.poll(1000)
    call(None)


@play
def another_job_by_accept():
    """Accepting a connection ends the binding even before the response begins, because another thread will write the response."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        clients = [socket.create_connection(listener.getsockname())]
        first, second = answered(1)
        kept = [listener.accept()]
        call(None)
        server, client = pair()
        client.sendall(head(2))
        server.recv(65536)
        call(trace_id(2))
        clients.append(socket.create_connection(listener.getsockname()))
        kept.append(listener.accept())
        call(None)


@play
def another_job_during_a_reported_request():
    """Waits do not end a request that is reported by CKP. Afterwards, the thread does not return to a request that a wait has ended."""
    ckp = Ckp(os.path.join(HERE, "libinferspan_ckp.so"))
    server, client = answered(1)
    epolled(job())
    with ckp.request(traceparent(2)):
        epolled(job())
        call(trace_id(2))
    call(None)


@play
def still_answering():
    """Waits before the response do not end the request. Neither do sleeps and waits for its own connection during the response."""
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    epolled(job())
    polled(job())
    call(trace_id(1))
    server.sendall(ANSWER[:-1])
    polled(server, select.POLLOUT)
    call(trace_id(1))
    select.select([], [], [], 0.001)
    select.poll().poll(1)
    call(trace_id(1))
    server.sendall(ANSWER[-1:])


@play
def still_answered_by_another_thread():
    """The thread that read the request waits for other work, and a thread that it started continues the response."""
    server, client = pair()
    left, gone = threading.Event(), threading.Event()

    def answer():
        server.sendall(ANSWER[:-1])
        left.set()
        while not gone.is_set():
            time.sleep(0.001)
        call(trace_id(1))
        server.sendall(ANSWER[-1:])

    client.sendall(head(1))
    server.recv(65536)
    thread = threading.Thread(target=answer)
    thread.start()
    left.wait()
    epolled(job())
    call(None)
    gone.set()
    thread.join()
