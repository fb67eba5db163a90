# SPDX-License-Identifier: Apache-2.0
"""streams.py [timer [poll]]: one of the servers of the attribution test, on asyncio streams, with one event loop and a coroutine per
connection.

With timer, the loop also opens a file every 3 ms, which belongs to no request. With poll, the loop waits for events with the system call
poll instead of epoll_wait.
"""

import asyncio
import itertools
import re
import selectors
import sys

from work import NO_REQUEST, headers, mark, mark_before_response, work_of


async def answer(reader, writer):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = re.search(r"(?i)^content-length: *(\d+)", head, re.M)
    await reader.readexactly(int(length[1]) if length else 0)
    work = work_of(head.split()[1])
    mark_before_response(work)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers(work).items())
    writer.write(f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode())
    for number in range(work.chunks):
        if number:
            if work.delay:
                await asyncio.sleep(work.delay)
            mark(work, work.opens + number - 1)
        writer.write(b"c" * work.chunk)
        await writer.drain()


async def serve(reader, writer):
    try:
        while True:
            await answer(reader, writer)
    except (asyncio.IncompleteReadError, ConnectionError, RuntimeError):
        pass
    finally:
        writer.close()


async def tick():
    for number in itertools.count():
        await asyncio.sleep(0.003)
        mark(NO_REQUEST, number)


async def main():
    ticking = asyncio.create_task(tick()) if sys.argv[1:] else None
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=128)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.gather(server.serve_forever(), *filter(None, [ticking]))


selector = selectors.PollSelector() if "poll" in sys.argv else selectors.DefaultSelector()
asyncio.SelectorEventLoop(selector).run_until_complete(main())
