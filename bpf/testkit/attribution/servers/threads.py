# SPDX-License-Identifier: Apache-2.0
"""threads.py [pool]: one of the servers of the attribution test, http.server with a thread per connection. With pool, handlers open their
files on the threads of a pool that all connections share."""

import concurrent.futures
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from work import headers, mark, mark_before_response, work_of

pool = concurrent.futures.ThreadPoolExecutor(8) if sys.argv[1:] == ["pool"] else None


def do(function, *arguments):
    return pool.submit(function, *arguments).result() if pool else function(*arguments)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        work = work_of(self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        do(mark_before_response, work)
        self.send_response(200)
        for name, value in headers(work).items():
            self.send_header(name, value)
        self.end_headers()
        for number in range(work.chunks):
            if number:
                time.sleep(work.delay)
                do(mark, work, work.opens + number - 1)
            self.wfile.write(b"c" * work.chunk)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *arguments):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
