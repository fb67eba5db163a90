# SPDX-License-Identifier: Apache-2.0
"""A part of testkit/check: how many instructions the kernel's verifier processes for each BPF program. This number determines how long
loading the program takes."""

import ctypes
import os

from observed import OBJECTS, Observer

# The kernel's limit is a million instructions. A third of that took a second.
MOST = 8_000
MOST_OF = {"context_sys_exit": 80_000}  # Linux 6.1 processes a fifth more instructions than newer kernels

# The objects of the bridge's commands record and coldstart, which `observe` does not load.
OTHERS = ["stacks", "request_stacks", "starts"]


def verified(report):
    """Checks that the verifier processes at most the allowed number of instructions per program, and that all other objects load."""
    with Observer() as observer:
        pass
    over = {name: number for name, number in observer.verified.items() if number > MOST_OF.get(name, MOST)}
    dearest = sorted(observer.verified.items(), key=lambda each: -each[1])[:3]
    report("verified instructions", len(observer.verified) > 10 and not over,
           f"{sum(observer.verified.values())} in {len(observer.verified)} programs, most in {dict(dearest)}"
           + (f"; too many: {over}" if over else ""))
    errors = {name: load(os.path.join(OBJECTS, name + ".bpf.o")) for name in OTHERS}
    report("other objects", not any(errors.values()), f"errno of loading each: {errors}")


def load(path):
    """Loads an object without the program that needs Linux 6.13; returns the errno, or 0."""
    libbpf = ctypes.CDLL("libbpf.so.1")
    libbpf.bpf_object__open_file.restype = ctypes.c_void_p
    libbpf.bpf_object__find_program_by_name.restype = ctypes.c_void_p
    opened = libbpf.bpf_object__open_file(path.encode(), None)
    session = libbpf.bpf_object__find_program_by_name(ctypes.c_void_p(opened), b"call_session")
    if session:
        libbpf.bpf_program__set_autoload(ctypes.c_void_p(session), False)
    error = -libbpf.bpf_object__load(ctypes.c_void_p(opened))
    libbpf.bpf_object__close(ctypes.c_void_p(opened))
    return error
