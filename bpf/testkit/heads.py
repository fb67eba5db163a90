# SPDX-License-Identifier: Apache-2.0
"""Scenes (test cases) of actor.py in which the head of a request (request line and headers) arrives in pieces: to which head does each
piece belong?"""

import os
import socket

from stage import ANSWER, call, head, in_thread, pair, play, served, trace_id

REQUEST_LINE_BYTES = 30


def over_tcp(listener):
    """Returns the server's and the client's end of a new connection."""
    client = socket.create_connection(listener.getsockname())
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server, _ = listener.accept()
    return server, client


def tcp_pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return over_tcp(listener)


def abandon_head(server, client, number):
    """The client disconnects in the middle of a head, after the traceparent."""
    client.sendall(head(number)[:-2] + b"X-")
    server.recv(65536)
    client.close()


@play
def given_up_in_the_middle():
    """An incomplete head is not continued by a later connection with the same descriptor."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for follower, trace in ((None, None), (2, trace_id(2))):
            server, client = over_tcp(listener)
            descriptor = server.fileno()
            abandon_head(server, client, 1)
            server.recv(65536)
            server.close()
            server, client = over_tcp(listener)
            if server.fileno() != descriptor:  # the client's end has the descriptor
                server, client = socket.socket(fileno=os.dup2(server.detach(), descriptor)), client
            served(server, client, head(follower), trace)
            served(server, client, head(3), trace_id(3))
            server.close()
            client.close()


@play
def given_up_and_replaced():
    """The same as given_up_in_the_middle, but dup2 replaces the descriptor, so that the programs observe no close."""
    for follower, trace in ((None, None), (2, trace_id(2))):
        server, client = pair()
        abandon_head(server, client, 1)
        other, client = pair()
        os.dup2(other.fileno(), server.fileno())
        served(server, client, head(follower), trace)


def finished_by_another(server, client):
    """One thread reads a part of a head, and another thread the rest. Then the first thread reads complete heads."""
    data = head(1)
    client.sendall(data[:-4] + b"\r\nX")
    server.recv(65536)
    client.sendall(b"-Y: z\r\n\r\n")
    in_thread(lambda: server.recv(65536))
    server.sendall(ANSWER)
    served(server, client, head(), None)
    served(server, client, head(2), trace_id(2))


@play
def finished_by_another_thread():
    finished_by_another(*pair())
    finished_by_another(*tcp_pair())


@play
def halves_of_two_heads():
    """The second thread reads the end of a head and the beginning of the next one, which the first thread's next read continues."""
    server, client = tcp_pair()
    client.sendall(head(1)[:-2] + b"X")
    server.recv(65536)
    client.sendall(b"-Y: z\r\n\r\n" + head()[:REQUEST_LINE_BYTES])
    in_thread(lambda: server.recv(65536))
    server.sendall(ANSWER)
    client.sendall(head()[REQUEST_LINE_BYTES:])
    server.recv(65536)
    call(None)
    server.sendall(ANSWER)
    served(server, client, head(2), trace_id(2))


@play
def a_value_like_a_request():
    """A piece in the middle of a header begins like a request."""
    server, client = tcp_pair()
    client.sendall(head(1)[:-2] + b"X-Line: ")
    server.recv(65536)
    client.sendall(b"GET / HTTP/1.1\r\nA: b\r\n\r\n")
    server.recv(65536)
    call(trace_id(1))
    server.sendall(ANSWER)


@play
def split_over_tcp():
    server, client = tcp_pair()
    data = head(1)
    for at in range(1, len(data), 11):
        for piece in (data[:at], data[at:]):
            client.sendall(piece)
            server.recv(65536)
        call(trace_id(1))
        server.sendall(ANSWER)


@play
def discarded():
    """A read with MSG_TRUNC discards the head, while its buffer contains another one."""
    server, client = tcp_pair()
    client.sendall(head(1))
    server.recv_into(bytearray(head(2)), len(head(2)), socket.MSG_TRUNC)
    call(None)
    server.sendall(ANSWER)
    served(server, client, head(3), trace_id(3))


def buffers(size, number):
    return [bytearray(size) for _ in range(number)]


@play
def many_buffers():
    """A head that is read into more buffers than the programs examine is ignored, and no part of it is kept."""
    for read in (lambda s, b: os.readv(s.fileno(), b), lambda s, b: s.recvmsg_into(b)):
        server, client = pair()
        client.sendall(head(1))
        read(server, buffers(20, 4))
        read(server, buffers(65536, 1))
        call(trace_id(1))
        server.sendall(ANSWER)
        client.sendall(head(2)[:-2] + b"A: " + b"b" * 100 + b"\r\n\r\n")
        read(server, buffers(40, 4) + buffers(65536, 1))
        call(None)
        server.sendall(ANSWER)
        served(server, client, head(), None)
        served(server, client, head(3), trace_id(3))


@play
def many_buffers_in_the_middle():
    server, client = pair()
    client.sendall(head(1)[:-2])
    server.recv(65536)
    client.sendall(b"A: " + b"b" * 100 + b"\r\n\r\n")
    os.readv(server.fileno(), buffers(10, 6) + buffers(65536, 1))
    call(None)
    server.sendall(ANSWER)
    served(server, client, head(), None)
    served(server, client, head(2), trace_id(2))
