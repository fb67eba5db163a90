# SPDX-License-Identifier: Apache-2.0
"""Scenes with request heads (request line and headers) in pieces: which bytes continue which head."""

import os
import socket

from stage import ANSWER, call, head, in_thread, pair, play, served, trace_id

HALF = 30  # bytes of the first piece, which end in the line of traceparent or before


def over_tcp(listener):
    """Returns the two ends of a new connection."""
    client = socket.create_connection(listener.getsockname())
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server, _ = listener.accept()
    return server, client


def tcp_pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return over_tcp(listener)


def abandoned(server, client, number):
    """A client disconnects in the middle of a head, after its traceparent."""
    client.sendall(head(number)[:-2] + b"X-")
    server.recv(65536)
    client.close()


@play
def given_up_in_the_middle():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for follower, trace in ((None, None), (2, trace_id(2))):
            server, client = over_tcp(listener)
            descriptor = server.fileno()
            abandoned(server, client, 1)
            server.recv(65536)
            server.close()
            server, client = over_tcp(listener)
            if server.fileno() != descriptor:  # the client's end took the number
                server, client = socket.socket(fileno=os.dup2(server.detach(), descriptor)), client
            served(server, client, head(follower), trace)
            served(server, client, head(3), trace_id(3))
            server.close()
            client.close()


@play
def given_up_and_replaced():
    """The descriptor is replaced with dup2, so that the programs see no close."""
    for follower, trace in ((None, None), (2, trace_id(2))):
        server, client = pair()
        abandoned(server, client, 1)
        other, client = pair()
        os.dup2(other.fileno(), server.fileno())
        served(server, client, head(follower), trace)


def finished_by_another(server, client):
    """One thread reads half a head, another thread the rest; then the first thread reads the next head as a whole."""
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
    """What the first thread reads continues what the second thread read, not its own earlier read."""
    server, client = tcp_pair()
    client.sendall(head(1)[:-2] + b"X")
    server.recv(65536)
    client.sendall(b"-Y: z\r\n\r\n" + head()[:HALF])
    in_thread(lambda: server.recv(65536))
    server.sendall(ANSWER)
    client.sendall(head()[HALF:])
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
def thrown_away():
    """A read discards bytes (MSG_TRUNC), so its buffer still has earlier data."""
    server, client = tcp_pair()
    client.sendall(head(1))
    server.recv_into(bytearray(head(2)), len(head(2)), socket.MSG_TRUNC)
    call(None)
    server.sendall(ANSWER)
    served(server, client, head(3), trace_id(3))


def many(bytes_of_each, number):
    return [bytearray(bytes_of_each) for _ in range(number)]


@play
def many_buffers():
    """A head in more buffers than the programs examine is ignored, and no part of it is kept."""
    for read in (lambda s, b: os.readv(s.fileno(), b), lambda s, b: s.recvmsg_into(b)):
        server, client = pair()
        client.sendall(head(1))
        read(server, many(20, 4))
        read(server, many(65536, 1))
        call(trace_id(1))
        server.sendall(ANSWER)
        client.sendall(head(2)[:-2] + b"A: " + b"b" * 100 + b"\r\n\r\n")
        read(server, many(40, 4) + many(65536, 1))
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
    os.readv(server.fileno(), many(10, 6) + many(65536, 1))
    call(None)
    server.sendall(ANSWER)
    served(server, client, head(), None)
    served(server, client, head(2), trace_id(2))
