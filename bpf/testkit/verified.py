# SPDX-License-Identifier: Apache-2.0
"""Part of `check`: the number of instructions that the verifier walks, which determines the load time."""

import ctypes
import os

from observed import OBJECTS, Observer

# The kernel's limit is a million; a third of it took a second.
MOST = 8_000
MOST_OF = {"context_sys_exit": 80_000}  # 6.1 walks a fifth more than newer kernels

# The objects of `record` and `coldstart`, which do not need the bridge.
OTHERS = ["stacks", "request_stacks", "starts"]


def verified(report):
    """Checks that no program takes long to verify."""
    with Observer() as observer:
        pass
    over = {name: walked for name, walked in observer.verified.items() if walked > MOST_OF.get(name, MOST)}
    dearest = sorted(observer.verified.items(), key=lambda each: -each[1])[:3]
    report("verified instructions", len(observer.verified) > 10 and not over,
           f"{sum(observer.verified.values())} in {len(observer.verified)} programs, most in {dict(dearest)}"
           + (f"; too many: {over}" if over else ""))
    errors = {name: load(os.path.join(OBJECTS, name + ".bpf.o")) for name in OTHERS}
    report("other objects", not any(errors.values()), f"errors when loading them: {errors}")


def load(path):
    """Loads an object without the program that needs Linux 6.13; returns the error number."""
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
