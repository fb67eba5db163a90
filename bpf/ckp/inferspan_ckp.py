# SPDX-License-Identifier: Apache-2.0
"""Reports to Inferspan from Python which request and operation a thread works for.

Build the shared object once: cc -shared -fPIC -O2 -o libinferspan_ckp.so inferspan_ckp.c

    ckp = Ckp("./libinferspan_ckp.so")
    with ckp.request(headers["traceparent"]), ckp.operation("prefill"):
        model.forward(batch)
"""

import contextlib
import ctypes
import itertools


class Ckp:
    """The functions of inferspan_ckp.h, from the shared object at path."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.inferspan_ckp_operation_begin.argtypes = [ctypes.c_uint64, ctypes.c_char_p]
        self._library.inferspan_ckp_operation_end.argtypes = [ctypes.c_uint64]
        self._library.inferspan_ckp_request_begin.argtypes = [ctypes.c_char_p]
        self._ids = itertools.count(1)

    @contextlib.contextmanager
    def request(self, traceparent):
        """Assigns the thread's work in the with block to the request, or to no request if traceparent is None or unsampled."""
        self._library.inferspan_ckp_request_begin(traceparent.encode() if traceparent else None)
        try:
            yield
        finally:
            self._library.inferspan_ckp_request_end()

    @contextlib.contextmanager
    def operation(self, name):
        """Reports the with block as a named operation of the current request."""
        operation = next(self._ids)
        self._library.inferspan_ckp_operation_begin(operation, name.encode())
        try:
            yield operation
        finally:
            self._library.inferspan_ckp_operation_end(operation)
