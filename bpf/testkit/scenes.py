# SPDX-License-Identifier: Apache-2.0
"""Scenes (test cases) of actor.py with one thread and one or two connections: which bytes are a request, and when does the request end?"""

import contextlib
import os
import socket

from stage import ANSWER, call, head, pair, play, served, trace_id, traceparent


@play
def plain():
    server, client = pair()
    served(server, client, head(1), trace_id(1))
    served(server, client, head(2), trace_id(2))


@play
def names_and_blanks():
    server, client = pair()
    served(server, client, head(1, name="TraceParent"), trace_id(1))
    served(server, client, head(2, value=" \t " + traceparent(2) + " \t"), trace_id(2))
    served(server, client, head(3, name="x-traceparent"), None)
    served(server, client, head(4, extra="a: b\r\n" * 200), trace_id(4))
    served(server, client, head(5, extra="Cookie: " + "x" * 5000 + "\r\n"), trace_id(5))
    served(server, client, head(6, extra="a: traceparent: " + traceparent(7) + "\r\n"), trace_id(6))
    served(server, client, head(8).replace(b"\r\n", b"\n"), trace_id(8))
    served(server, client, head(9, method="OPTIONS"), trace_id(9))


@play
def versions_and_flags():
    server, client = pair()
    served(server, client, head(1, value=traceparent(1, flags="00")), None)
    served(server, client, head(2, value=traceparent(2, flags="03")), trace_id(2))
    served(server, client, head(3, value=traceparent(3, version="cc", more="-what-comes")), trace_id(3))
    served(server, client, head(4, value=traceparent(4, version="cc")), trace_id(4))
    served(server, client, head(5, value=traceparent(5, version="cc", more=".no")), None)
    served(server, client, head(6, value=traceparent(6, more="-no")), None)
    served(server, client, head(7, value=traceparent(7, version="ff")), None)
    served(server, client, head(8, value="00-" + "AB" * 16 + "-00f067aa0ba902b7-01"), None)
    served(server, client, head(9, value="00-" + "0" * 32 + "-00f067aa0ba902b7-01"), None)
    served(server, client, head(9, value="00-" + "1" * 32 + "-0000000000000000-01"), None)
    served(server, client, head(9, extra="traceparent: " + traceparent(10) + "\r\n"), None)
    served(server, client, head(9, value=traceparent(9)[:-1]), None)
    served(server, client, head(11), trace_id(11))


@play
def a_request_without_a_header_between_two():
    server, client = pair()
    served(server, client, head(1), trace_id(1))
    served(server, client, head(), None)
    served(server, client, head(2), trace_id(2))


def pieces(data, cuts):
    edges = [0] + cuts + [len(data)]
    return [data[a:b] for a, b in zip(edges, edges[1:])]


@play
def split_heads():
    server, client = pair()
    data = head(1, extra="Cookie: " + "y" * 300 + "\r\n")
    for at in list(range(1, len(data), 7)) + [len(data) - n for n in (1, 2, 3, 4)]:
        for piece in pieces(data, [at]):
            client.sendall(piece)
            server.recv(65536)
        call(trace_id(1))
        server.sendall(ANSWER)


@play
def byte_by_byte():
    server, client = pair()
    for number in (1, 2):
        client.sendall(head(number))
        for _ in range(len(head(number))):
            server.recv(1)
        call(trace_id(number))
        server.sendall(ANSWER)


@play
def other_reads():
    server, client = pair()
    client.sendall(head(1))
    os.read(server.fileno(), 65536)
    call(trace_id(1))
    os.write(server.fileno(), ANSWER)
    client.sendall(head(2))
    server.recvmsg(65536)
    call(trace_id(2))
    server.sendmsg([ANSWER])
    client.sendall(head(3))
    os.readv(server.fileno(), [bytearray(40), bytearray(20), bytearray(65536)])
    call(trace_id(3))
    os.writev(server.fileno(), [ANSWER])
    client.sendall(head(4))
    server.recvmsg_into([bytearray(30), bytearray(65536)])
    call(trace_id(4))
    server.sendall(ANSWER)
    client.sendall(head(5))
    server.recv(65536, socket.MSG_PEEK)
    call(None)
    server.recv(65536)
    call(trace_id(5))


@play
def bodies():
    server, client = pair()
    client.sendall(head(1, method="POST", body="GET / HTTP/1.1\r\ntraceparent: " + traceparent(9) + "\r\n\r\n"))
    server.recv(65536)
    call(trace_id(1))
    server.sendall(ANSWER)
    client.sendall(head(2, method="POST", extra="Expect: 100-continue\r\n", body="x" * 5000)[:-5000])
    server.recv(65536)
    call(trace_id(2))
    server.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    client.sendall(b"x" * 5000)
    server.recv(65536)
    call(trace_id(2))
    server.sendall(ANSWER)


@play
def after_the_response():
    """The work after the last byte of a response belongs to the request, until the thread reads from the connection again."""
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    server.sendall(ANSWER[:-1])
    call(trace_id(1))
    server.sendall(ANSWER[-1:])
    call(trace_id(1))
    server.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        server.recv(65536)
    call(None)


@play
def closed():
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    call(trace_id(1))
    server.close()
    call(None)


@play
def not_a_socket():
    reading, writing = os.pipe()
    os.write(writing, head(1))
    os.read(reading, 65536)
    call(None)


@play
def not_http():
    server, client = pair()
    client.sendall(b"GET me a traceparent\r\ntraceparent: " + traceparent(1).encode() + b"\r\n\r\n")
    server.recv(65536)
    call(None)


@play
def pipelined():
    """If one read returns two requests, neither of them is traced."""
    server, client = pair()
    client.sendall(head(1) + head(2))
    server.recv(65536)
    call(None)


@play
def read_ahead():
    """A request that is read before the response to the previous one is not traced."""
    server, client = pair()
    client.sendall(head(1))
    server.recv(65536)
    call(trace_id(1))
    client.sendall(head(2))
    server.recv(65536)
    call(None)


@play
def interleaved():
    """A thread that has two open requests works for none; when one has its response, it works for the other."""
    (one, first), (two, second) = pair(), pair()
    first.sendall(head(1))
    one.recv(65536)
    call(trace_id(1))
    second.sendall(head(2))
    two.recv(65536)
    call(None)
    one.sendall(ANSWER)
    call(trace_id(2))
    two.sendall(ANSWER)
    call(trace_id(2))
    served(one, first, head(3), trace_id(3))


@play
def interleaved_answers():
    (one, first), (two, second) = pair(), pair()
    first.sendall(head(1))
    one.recv(65536)
    one.sendall(ANSWER[:-1])
    second.sendall(head(2))
    two.recv(65536)
    call(None)
    one.sendall(ANSWER[-1:])
    call(trace_id(2))
    two.sendall(ANSWER)
    served(one, first, head(3), trace_id(3))


@play
def one_after_the_other():
    (one, first), (two, second) = pair(), pair()
    served(one, first, head(1), trace_id(1))
    served(two, second, head(2), trace_id(2))
    served(one, first, head(3), trace_id(3))
