# SPDX-License-Identifier: Apache-2.0
"""Scenes (test cases) of actor.py with threads that also do work outside of requests, for timers, other threads, processes and queues. This
work must not be attributed to a request. Read the name of a scene after "work …", as in "work of a pool that is busy"."""

import ctypes
import os
import select
import socket
import struct
import threading
import time

from loops import loop_pair, reads
from stage import ANSWER, call, head, pair, play, served, trace_id

CHUNK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok"
libc = ctypes.CDLL(None, use_errno=True)


def wait(function, seconds, *descriptors):
    """Waits with poll or select, like a loop whose first timer is due after these seconds; returns the readable descriptors."""
    if function == "select":
        return select.select(descriptors, [], [], seconds)[0]
    group = select.poll()
    [group.register(descriptor, select.POLLIN) for descriptor in descriptors]
    return group.poll(seconds * 1000)


def with_a_timer(function):
    (server, client), (other, _) = loop_pair(), loop_pair()
    for number in (1, 2):
        wait(function, 0.001, server, other)
        client.sendall(head(number))
        assert wait(function, 0.5, server, other)
        server.recv(65536)
        call(trace_id(number))
        time.sleep(0.5)
        call(None)
        server.sendall(ANSWER)


@play
def when_a_timer_is_due_in_a_loop_on_poll():
    with_a_timer("poll")


@play
def when_a_timer_is_due_in_a_loop_on_select():
    with_a_timer("select")


@play
def when_a_timer_is_due_after_a_poll_inside_a_callback():
    """A poll inside a callback does not postpone the loop's timer."""
    (server, client), (other, _) = loop_pair(), loop_pair()

    def poll_in_callback(_):
        group = select.poll()
        group.register(server, select.POLLOUT)
        group.register(other, select.POLLOUT)
        group.poll(5000)

    client.sendall(head(1))
    wait("poll", 0.5, server, other)
    server.recv(65536)
    list(map(poll_in_callback, [1]))  # map makes the call deeper in the stack
    call(trace_id(1))
    time.sleep(0.5)
    call(None)
    server.sendall(ANSWER)


def timerfd(seconds, descriptor=None):
    """Sets a timerfd, or disarms it if seconds is 0; returns it."""
    value = struct.pack("qqqq", 0, 0, int(seconds), int(seconds % 1 * 1e9))
    descriptor = descriptor or libc.timerfd_create(1, os.O_NONBLOCK)
    assert not libc.timerfd_settime(descriptor, 0, value, None)
    return descriptor


@play
def when_a_timerfd_is_due():
    server, client = loop_pair()
    with select.epoll() as epoll:
        timer = timerfd(0.4)
        epoll.register(server, select.EPOLLIN)
        epoll.register(timer, select.EPOLLIN | select.EPOLLET)
        client.sendall(head(1))
        epoll.poll()
        server.recv(65536)
        call(trace_id(1))
        time.sleep(0.4)
        call(None)
        epoll.poll()
        timerfd(5, timer)
        call(None)
        server.sendall(ANSWER)
        client.sendall(head(2))
        epoll.poll()
        server.recv(65536)
        call(trace_id(2))
        server.sendall(ANSWER)


@play
def when_one_of_two_timerfds_is_due():
    """Setting one timerfd again does not postpone the expiry of the other."""
    server, client = loop_pair()
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        _, other = timerfd(0.6), timerfd(0.2)
        time.sleep(0.3)
        timerfd(5, other)
        client.sendall(head(1))
        epoll.poll()
        server.recv(65536)
        time.sleep(0.4)
        call(None)
        server.sendall(ANSWER)


@play
def when_a_timerfd_is_disarmed():
    """After a timerfd is disarmed and the loop has waited, no timer can be due, until the loop sets another timerfd."""
    server, client = loop_pair()
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        timer = timerfd(0.3)
        client.sendall(head(1))
        epoll.poll()
        server.recv(65536)
        call(trace_id(1))
        time.sleep(0.3)
        call(None)
        timerfd(0, timer)
        call(None)
        server.sendall(ANSWER)
        client.sendall(head(2))
        epoll.poll()
        server.recv(65536)
        call(trace_id(2))
        timerfd(0.3)
        call(trace_id(2))
        time.sleep(0.3)
        call(None)
        server.sendall(ANSWER)


@play
def when_another_thread_sets_a_timerfd():
    """If a thread other than the loop sets a timerfd, any thread of the process may handle the expiry."""
    server, client = loop_pair()
    thread = threading.Thread(target=lambda: timerfd(5))
    thread.start()
    thread.join()
    reads(server, client, head(1))
    call(None)
    server.sendall(ANSWER)


def woken_by(reading, writing):
    """Another thread wakes a loop. Until the loop waits again, its work does not belong to the request."""
    server, client = loop_pair()
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        epoll.register(reading, select.EPOLLIN)
        client.sendall(head(1))
        epoll.poll()
        server.recv(65536)
        call(trace_id(1))
        server.sendall(ANSWER)
        client.sendall(head(2, method="POST", extra="Content-Length: 4\r\n"))
        epoll.poll()
        server.recv(65536)
        call(trace_id(2))
        os.write(writing, b"\1\0\0\0\0\0\0\0")
        epoll.poll()
        os.read(reading, 8)
        call(None)
        client.sendall(b"body")
        epoll.poll()
        server.recv(65536)
        call(trace_id(2))
        os.write(writing, b"\1\0\0\0\0\0\0\0")
        server.sendall(ANSWER)
        os.read(reading, 8)
        call(None)
        # One wait returns the wake-up and a head.
        os.write(writing, b"\1\0\0\0\0\0\0\0")
        client.sendall(head(3))
        epoll.poll()
        os.read(reading, 8)
        server.recv(65536)
        call(None)
        server.sendall(ANSWER)
        client.sendall(head(4))
        epoll.poll()
        server.recv(65536)
        call(trace_id(4))
        server.sendall(ANSWER)


@play
def woken_by_an_eventfd():
    """A read from an eventfd does not end the attribution, because it usually reports that a call of the request has ended."""
    server, client = loop_pair()
    descriptor = os.eventfd(1)
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        client.sendall(head(1))
        epoll.poll()
        server.recv(65536)
        os.eventfd_read(descriptor)
        call(trace_id(1))
        server.sendall(ANSWER)


@play
def woken_by_a_pipe():
    woken_by(*os.pipe())


@play
def woken_by_a_socket():
    one, two = socket.socketpair()
    woken_by(one.fileno(), two.fileno())


def interrupted(prepare, event):
    """A loop with an open request gets another event. Its work until its next wait does not belong to the request."""
    server, client = loop_pair()
    with select.epoll() as epoll:
        prepared = prepare()
        epoll.register(server, select.EPOLLIN)
        epoll.poll(0.001)
        client.sendall(head(1, method="POST", extra="Content-Length: 4\r\n"))
        epoll.poll()
        server.recv(65536)
        call(trace_id(1))
        event(*prepared)
        call(None)
        client.sendall(b"body")
        epoll.poll()
        server.recv(65536)
        call(trace_id(1))
        server.sendall(ANSWER)


@play
def of_a_loop_that_accepts_a_connection():
    listener = socket.create_server(("127.0.0.1", 0))
    interrupted(lambda: (socket.create_connection(listener.getsockname()),), lambda _: listener.accept())


@play
def of_a_loop_that_finds_a_connection_closed():
    def closed():
        server, client = loop_pair()
        client.close()
        return (server,)
    interrupted(closed, lambda other: other.recv(1))


@play
def of_a_loop_that_receives_datagrams():
    """Requests of a protocol on UDP are not recognised, so all later work of the loop may belong to one."""
    server, client = loop_pair()
    receiver, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    receiver.bind(("127.0.0.1", 0))
    sender.sendto(b"x", receiver.getsockname())
    data = ctypes.create_string_buffer(8)
    buffers = (ctypes.c_uint64 * 2)(ctypes.addressof(data), 8)
    messages = (ctypes.c_uint64 * 8)(0, 0, ctypes.addressof(buffers), 1)
    reads(server, client, head(1))
    call(trace_id(1))
    assert libc.recvmmsg(receiver.fileno(), messages, 1, 0, None) == 1
    call(None)
    server.sendall(ANSWER)


@play
def of_a_pool_that_is_busy():
    """A thread that once waited for a job can take its next job right after a response, without a wait."""
    server, client = pair()
    served(server, client, head(1), trace_id(1))
    call(trace_id(1))
    event = threading.Event()
    threading.Timer(0.05, event.set).start()
    event.wait()
    served(server, client, head(2), trace_id(2))
    call(None)


@play
def of_a_loop_whose_backend_answers_late():
    """If a backend answers the previous request late, reading the answer ends the attribution of calls to the next request."""
    (server, client), (backend, service) = loop_pair(), loop_pair()
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        for number, wanted in ((1, trace_id(1)), (2, None)):
            client.sendall(head(number))
            epoll.poll()
            server.recv(65536)
            if number == 1:
                backend.sendall(b"question")
            service.sendall(b"answer")
            backend.recv(65536)
            call(wanted)
            server.sendall(ANSWER)


@play
def of_a_loop_that_awaits_its_backend():
    """While a request is open, the loop asks its backend. The reply belongs to the request, even if system calls are not reported."""
    server, client = loop_pair()
    listener = socket.create_server(("127.0.0.1", 0))
    backend, (service, _) = socket.create_connection(listener.getsockname()), listener.accept()
    with select.epoll() as epoll:
        epoll.register(server, select.EPOLLIN)
        epoll.poll(0.001)
        client.sendall(head(1))
        epoll.poll()
        server.recv(65536)
        backend.sendall(b"question")
        service.sendall(b"answer")
        epoll.register(backend, select.EPOLLIN)
        epoll.poll()
        backend.recv(65536)
        call(trace_id(1))
        server.sendall(ANSWER)


@play
def of_a_loop_that_reads_ahead():
    server, client = loop_pair()
    reads(server, client, head(1))
    server.sendall(CHUNK)
    call(trace_id(1))
    reads(server, client, head(2))
    call(None)
    server.sendall(b"ok")
    server.sendall(ANSWER)


@play
def after_pipelined_requests():
    """Later requests of a connection that had several pending responses are not traced, because one may still be pending."""
    server, client = loop_pair()
    reads(server, client, head() + head()[:20])
    reads(server, client, head()[20:])
    server.sendall(ANSWER)
    reads(server, client, head(2))
    call(None)
    server.sendall(ANSWER)


def queued(receive, send):
    """A process that is started for a request receives another job."""
    server, client = pair()
    reads(server, client, head(1))
    trace = trace_id(1)
    child = os.fork()
    if child == 0:
        call(trace)
        receive()
        call(None)
        os._exit(0)
    time.sleep(0.05)
    send()
    os.waitpid(child, 0)
    call(trace)
    server.sendall(ANSWER)


@play
def of_a_process_that_waits_for_an_eventfd():
    descriptor = os.eventfd(0)
    queued(lambda: os.eventfd_read(descriptor), lambda: os.eventfd_write(descriptor, 1))


@play
def of_a_process_that_waits_for_a_message():
    queue, message = libc.msgget(0, 0o600), ctypes.create_string_buffer(struct.pack("q8s", 1, b"job"), 16)
    queued(lambda: libc.msgrcv(queue, message, 8, 0, 0), lambda: libc.msgsnd(queue, message, 8, 0))
    libc.msgctl(queue, 0, None)


@play
def of_a_thread_that_reads_jobs():
    """After its response, a thread reads its database's reply, which is the request's work, and then a job from a pipe."""
    (server, client), (database, service), (reading, writing) = pair(), pair(), os.pipe()
    for number in (1, 2):
        served(server, client, head(number), trace_id(number))
        database.sendall(b"log")
        service.sendall(b"logged")
        database.recv(65536)
        call(trace_id(number))
        os.write(writing, b"job")
        os.read(reading, 3)
        call(None)
