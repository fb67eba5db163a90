# SPDX-License-Identifier: Apache-2.0
"""floor.py OBJECT …: the oldest kernel that has all helpers and instructions that each object uses, as "name version".

By the numbers of helpers, which are given out in the order in which they came, by atomic instructions beyond the
plain addition, and by kinds of programs. What else a program relies on (a tracepoint, a field) only the kernel itself can tell.
"""

import os
import struct
import sys

# The last helper that came with a version.
LAST_HELPER = [(135, "5.8"), (141, "5.9"), (155, "5.10"), (162, "5.11"), (163, "5.12"), (165, "5.13"), (168, "5.14"),
               (175, "5.15"), (179, "5.16"), (194, "5.18")]
LOOP = {180: "5.17", 181: "5.17", 182: "5.17"}
# Of older helpers, when programs on tracepoints and functions were given them.
LATER = {156: "5.13", 157: "5.13"}  # task storage
ATOMICS = "5.12"
# Kinds of programs, by the section they are in.
KINDS = {b"syscall": "5.14"}
EXECUTABLE = 4
CALL, LOAD_WIDE, ATOMIC_WORD, ATOMIC_DOUBLE, PLAIN_ADD = 0x85, 0x18, 0xC3, 0xDB, 0


def number(version):
    return tuple(map(int, version.split(".")))


def sections(elf):
    """Name, flags and bytes of each."""
    (offset,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, flags, _, begin, length in headers:
        yield elf[strings + name :].split(b"\0", 1)[0], flags, elf[begin : begin + length]


def needs(code):
    at = 0
    while at < len(code):
        operation, registers = code[at], code[at + 1]
        (immediate,) = struct.unpack_from("<i", code, at + 4)
        if operation == CALL and registers >> 4 == 0:
            yield helper(immediate)
        elif operation in (ATOMIC_WORD, ATOMIC_DOUBLE) and immediate != PLAIN_ADD:
            yield ATOMICS
        at += 16 if operation == LOAD_WIDE else 8


def helper(helper_number):
    if helper_number in LATER or helper_number in LOOP:
        return LATER.get(helper_number) or LOOP[helper_number]
    return next((version for last, version in LAST_HELPER if helper_number <= last), "unknown")


def floor(path):
    with open(path, "rb") as file:
        elf = file.read()
    programs = [(name, code) for name, flags, code in sections(elf) if flags & EXECUTABLE]
    versions = {version for _, code in programs for version in needs(code)}
    versions |= {KINDS.get(name, "5.8") for name, _ in programs}
    return "unknown" if "unknown" in versions else max(versions, key=number)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(os.path.basename(path).split(".")[0], floor(path))
