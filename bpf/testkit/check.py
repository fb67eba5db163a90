# SPDX-License-Identifier: Apache-2.0
"""Compares the records of the BPF programs with the logs of stand-ins and servers. Needs root. Run it with testkit/check."""

import collections
import contextlib
import json
import os
import signal
import subprocess
import sys

from adopted import adopted
from descriptors import descriptors
from full import full, numbers
from idle import missed_ends
from interleaved import interleaved
from messages import messages
from observed import HERE, KIT, Observer, fake_calls, library
from owners import owners
from steps import steps
from verified import verified

# Kinds of records, sources and counters: see wire.h.
LAUNCH, ALLOC, STREAM_SYNC, READ, POLL, RUN_QUEUE, OFF_CPU = 1, 8, 10, 200, 205, 300, 301
CONNECT, RETRANSMIT, OPERATION, LIBRARY, BEGAN, ENDED = 320, 321, 350, 400, 403, 404
OWN, OTEL = 1, 5
RING_FULL, HEADS, REQUESTS_BEGAN, REQUESTS_ENDED = 512, 600, 620, 621
# How many times slower than real hardware an emulated machine is. Time limits are multiplied by it.
SLOWNESS = float(os.environ.get("CHECK_SLOWNESS", "1"))
failures = []


def report(name, ok, text):
    print(f"{'ok  ' if ok else 'FAIL'} {name}: {text}", flush=True)
    if not ok:
        failures.append(name)


def scenes(options=()):
    """Runs all scenes of actor.py, and checks that each call is reported under the trace that its scene expects, or not at all."""
    command = [sys.executable, os.path.join(HERE, "actor.py"), KIT]
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/libinferspan_ckp.so", *options) as observer:
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120).stdout.splitlines()
    launches = collections.defaultdict(list)
    for event in observer.events:
        if event.kind == LAUNCH:
            launches[event.amount].append(event)
    results = collections.defaultdict(lambda: [0, []])
    for line in map(json.loads, lines):
        if "note" in line:
            results[line["scene"]][1].append(line["note"])
            continue
        seen = [event.trace for event in launches.pop(line["tag"], [])]
        wanted = [line["trace"]] if line["trace"] else []
        results[line["scene"]][0] += 1
        if seen != wanted:
            results[line["scene"]][1].append(f"call {line['tag']}: {seen} instead of {wanted}")
    calls = sum(count for count, _ in results.values())
    for name, (count, faults) in results.items():
        if faults:
            report("scene " + name, False, "; ".join(faults[:4]))
    wrong = any(faults for _, faults in results.values())
    report("scenes", not wrong and calls > 100 and not launches,
           f"{len(results)} scenes, {calls} calls, {len(launches)} unexpected launches" + ("; faults above" if wrong else ""))
    operations = [event for event in observer.events if event.kind == OPERATION]
    report("operations", [event.text for event in operations] == ["prefill"], f"{len(operations)} reported: {[e.text for e in operations]}")
    report("ends of scenes", *ends_of(observer, {line["tag"] // 100 for line in map(json.loads, lines) if "tag" in line}))
    numbers(report, observer.events)
    report("accounting of scenes", *observer.accounted())
    return observer


def ends_of(observer, pids):
    """Checks that the requests of these processes have ended. The counters also include requests of other processes."""
    ours = {f"{pid:016x}" for pid in pids}
    began, ended = ({e.owner for e in observer.events if e.kind == kind and e.trace[:16] in ours} for kind in (BEGAN, ENDED))
    open_requests = observer.counters.get(REQUESTS_BEGAN, 0) - observer.counters.get(REQUESTS_ENDED, 0)
    return began == ended and len(began) > 0 and open_requests == observer.open_requests, (
        f"{len(began)} requests of the scenes began and {len(began & ended)} ended; "
        f"in all processes, {open_requests} are open by the counters, {observer.open_requests} by the map `activity`")


def durations():
    """Compares the durations in the records with those that the stand-in measured."""
    wanted = {"cuLaunchKernel": (LAUNCH, 0, 1e6), "cuStreamSynchronize": (STREAM_SYNC, 4e6, 9e6)}  # kind, and bounds in ns
    # A hypervisor may stop a CPU without a record of it, so the least disturbed of three tries counts.
    tries = [timed_calls(wanted) for _ in range(3)]
    for name, (_, least, most) in wanted.items():
        number, stopped, usual, median, p99 = min((each[name] for each in tries), key=lambda each: each[-1])
        report(f"duration of {name}", number == 200 and stopped <= 50 and least <= usual <= most and p99 <= 50_000,
               f"{number} calls with a median of {usual / 1e3:.1f} us, {stopped} of them interrupted between the two clock readings; "
               f"the others differ by {median / 1e3:.1f} us, p99 {p99 / 1e3:.1f} us")


def is_interrupted(event, call, away):
    """Returns whether the thread was off the CPU between the clock readings of the probe and of the stand-in, by the records `away`."""
    gaps = (event.start, call[0]), (call[1], event.end)
    return any(a.start < end and a.end > start for start, end in gaps for a in away)


def timed_calls(wanted):
    """Makes calls of each function, whose durations both the probe and the stand-in measure. Returns for each function:

    - the number of calls,
    - the number of calls that were interrupted between the clock readings of the probe and of the stand-in,
    - the median duration of all calls,
    - the median and p99 difference of the two measured durations, in the calls that were not interrupted.
    """
    log = os.path.join(KIT, "calls")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(log)
    program = (
        "import ctypes, sys; sys.path.insert(0, sys.argv[2]); from inferspan_ckp import Ckp\n"
        "driver = ctypes.CDLL(sys.argv[1] + '/libcuda.so.1')\n"
        "with Ckp(sys.argv[1] + '/libinferspan_ckp.so').request('00-' + '1' * 32 + '-' + '2' * 16 + '-01'):\n"
        "    for i in range(200):\n"
        "        driver.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(0x5100), None, None)\n"
        "        driver.cuStreamSynchronize(ctypes.c_void_p(0x5100))\n"
    )
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/libinferspan_ckp.so", "flags=29") as observer:
        subprocess.run([sys.executable, "-c", program, KIT, os.path.join(HERE, "..", "ckp")], check=True, timeout=60,
                       env={**os.environ, "FAKE_CUDA_LOG": log, "FAKE_CUDA_KERNEL": "5ms"})
    logged = list(fake_calls(log))
    away = [e for e in observer.events if e.kind in (RUN_QUEUE, OFF_CPU)]
    seen = {}
    for name, (kind, _, _) in wanted.items():
        events = sorted((e for e in observer.events if e.kind == kind), key=lambda e: e.start)
        calls = [c for c in logged if c[7] == name]
        lengths = sorted(e.end - e.start for e in events) or [0]
        pairs = list(zip(events, calls))
        ran = [(e, c) for e, c in pairs if not is_interrupted(e, c, [a for a in away if a.tid == e.tid])]
        deltas = sorted(abs((e.end - e.start) - (c[1] - c[0])) for e, c in ran) or [1e9]
        seen[name] = (len(pairs), len(pairs) - len(ran), lengths[len(lengths) // 2], deltas[len(deltas) // 2],
                      deltas[len(deltas) * 99 // 100])
    return seen


def rate(seconds, threads):
    with Observer(*library("libcuda.so.1"), f"ckp={KIT}/load", "flags=a1") as observer:
        line = subprocess.run([os.path.join(KIT, "load"), str(seconds), str(threads), "00-" + "1" * 32 + "-" + "2" * 16 + "-01"],
                              stdout=subprocess.PIPE, text=True, check=True, timeout=seconds * 5 + 30).stdout
    made = int(line.split()[0])
    produced = observer.counters.get(LAUNCH, 0)
    report("load", made == produced, f"{line.strip()} on {threads} threads; the programs counted {produced}")
    report("accounting of the load", *observer.accounted())


def contexts():
    """Tests the other sources of contexts: the reader's own threads, and the OpenTelemetry context map, which the programs read and
    write."""
    with Observer("own=50", "flags=4") as observer:
        pass
    own = [e for e in observer.events if e.kind == READ and e.source == OWN]
    report("own thread", len(own) == 50 and {e.trace for e in own} == {"5" * 32} and {e.span for e in own} == {"6" * 16},
           f"{len(own)} reads reported, of 50 with a published context and 50 without")
    program = "import sys; sys.stdin.read(1); f = open('/dev/null', 'rb', 0); [f.read(1) for i in range(30)]; print('done', flush=True); sys.stdin.read()"
    for flags, wanted in (("104", 30), ("004", 0)):
        with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            with Observer(f"otel={child.pid}", f"flags={flags}") as observer:
                child.stdin.write(b"x")
                child.stdin.flush()
                child.stdout.readline()
            child.stdin.close()
        seen = [e for e in observer.events if e.kind == READ and e.source == OTEL and e.tgid == child.pid and e.detail & 7 == 0]
        report(f"context map, flags {flags}", len(seen) == wanted and {e.trace for e in seen} <= {"5" * 32}, f"{len(seen)} reads")
    program = "import sys, time; sys.stdin.read(1); [time.sleep(0.02) for i in range(5)]; print('done', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        with Observer(f"otel={child.pid}", "flags=108") as observer:
            child.stdin.write(b"x")
            child.stdin.flush()
            child.stdout.readline()
        child.stdin.close()
    asleep = [e for e in observer.events if e.kind == OFF_CPU and e.source == OTEL and e.end - e.start > 5e6]
    report("context map, only the scheduler", len(asleep) == 5 and {e.tid for e in asleep} == {child.pid}, f"{len(asleep)} sleeps")
    held = (
        "import sys; sys.path.insert(0, sys.argv[2]); from inferspan_ckp import Ckp\n"
        "sys.stdin.read(1)\n"
        "with Ckp(sys.argv[1] + '/libinferspan_ckp.so').request('00-' + '1' * 32 + '-' + '2' * 16 + '-01'):\n"
        "    print('in', flush=True); sys.stdin.read(1) if sys.argv[3] == 'in' else None\n"
        "print('out', flush=True); sys.stdin.read(1)\n"
    )
    command = [sys.executable, "-c", held, KIT, os.path.join(HERE, "..", "ckp")]
    for until, wanted in (("in", 1), ("out", 0)):
        child = subprocess.Popen([*command, until], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # With a target, because other processes of the machine may serve requests, too.
        with Observer(f"ckp={KIT}/libinferspan_ckp.so", "flags=200", f"target={child.pid}") as observer:
            child.stdin.write("x")
            child.stdin.flush()
            while child.stdout.readline().strip() != until:
                pass
        child.kill()
        child.wait()
        report(f"context map, {until}side of a request", observer.context_entries == wanted, f"{observer.context_entries} entries")


def waits():
    """Checks that waits before the response and in a probed function belong to the request, and a wait for the next request does not."""
    scale = 1 if SLOWNESS == 1 else 10
    program = (
        "import ctypes, select, socket, sys\n"
        "driver = ctypes.CDLL(sys.argv[1] + '/libcuda.so.1')\n"
        "server, client = socket.socketpair()\n"
        "poll = select.poll(); poll.register(server, select.POLLIN)\n"
        "client.sendall(b'GET / HTTP/1.1\\r\\ntraceparent: 00-' + b'7' * 32 + b'-' + b'2' * 16 + b'-01\\r\\n\\r\\n')\n"
        "server.recv(4096); poll.poll(30 * int(sys.argv[2]))\n"
        "server.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n'); poll.poll(60 * int(sys.argv[2]))\n"
        "driver.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, None, None, None); driver.cuStreamSynchronize(None)\n"
    )
    with Observer(*library("libcuda.so.1"), "flags=d") as observer:
        subprocess.run([sys.executable, "-c", program, KIT, str(scale)], check=True, timeout=30,
                       env={**os.environ, "FAKE_CUDA_KERNEL": f"{30 * scale}ms"})
    ours = [e for e in observer.events if e.trace == "7" * 32]
    polls = [(e.end - e.start) / 1e6 for e in ours if e.kind == POLL]
    away = [(e.end - e.start) / 1e6 for e in ours if e.kind == OFF_CPU and e.end - e.start > 20e6 * scale]
    report("waits", len(polls) == 1 and len(away) == 2 and all(30 * scale - SLOWNESS <= each < 60 * scale for each in polls + away),
           f"polls of {polls} ms, off the CPU for {away} ms, each below the {60 * scale} ms of the wait for the next request")


def cgroups():
    """Checks that only processes in the chosen cgroup directory are observed."""
    mount = os.path.join(KIT, "cgroup")
    inner = os.path.join(mount, "inferspan-check", "inner")
    os.makedirs(mount, exist_ok=True)
    if subprocess.run(["mount", "-t", "cgroup2", "none", mount]).returncode:
        report("cgroups", False, f"cgroup v2 cannot be mounted at {mount}; see the message of mount above")
        return
    try:
        os.makedirs(inner, exist_ok=True)
        os.makedirs(inner + "-other", exist_ok=True)
        join = f"echo 0 > {inner}/cgroup.procs; exec {sys.executable} {HERE}/actor.py {KIT} plain"
        seen = {}
        for where in ("1:" + os.path.dirname(inner), "2:" + inner, "2:" + inner + "-other"):
            with Observer(*library("libcuda.so.1"), "cgroup=" + where, "flags=1") as observer:
                lines = subprocess.run(["sh", "-c", join], stdout=subprocess.PIPE, text=True, check=True).stdout
            tags = {json.loads(line)["tag"] for line in lines.splitlines()}
            seen[os.path.basename(where)] = len([e for e in observer.events if e.kind == LAUNCH and e.amount in tags])
        report("cgroups", list(seen.values()) == [2, 2, 0], f"calls reported by chosen directory: {seen}")
        os.rmdir(inner)
        os.rmdir(inner + "-other")
        os.rmdir(os.path.dirname(inner))
    finally:
        subprocess.run(["umount", mount])


def targets():
    """Checks that a process that is not a target is ignored, even if it reads requests."""
    with Observer(*library("libcuda.so.1"), "target=1") as observer:
        subprocess.run([sys.executable, os.path.join(HERE, "actor.py"), KIT, "plain"], stdout=subprocess.DEVNULL, check=True)
    seen = [event for event in observer.events if event.kind < 400]
    report("targets", not seen and not observer.counters.get(HEADS), f"{len(seen)} events of a process that is not a target")


def overflow():
    """Stops the reader until the ring overflows, and checks that the lost records are counted exactly."""
    with Observer(f"ckp={KIT}/load", "flags=84") as observer:
        os.kill(observer.process.pid, signal.SIGSTOP)
        subprocess.run([os.path.join(KIT, "load"), "2", "2", "00-" + "1" * 32 + "-" + "2" * 16 + "-01", "0", "read"],
                       stdout=subprocess.DEVNULL, check=True, timeout=60)
        os.kill(observer.process.pid, signal.SIGCONT)
    ok, text = observer.accounted()
    report("overflow", ok and observer.counters.get(RING_FULL, 0) > 0, text)


def tcp():
    """Makes three connects: one succeeds, one is refused, and one gets no answer, so that its first packet is retransmitted."""
    program = (
        "import socket, sys; sys.path.insert(0, sys.argv[2]); from inferspan_ckp import Ckp\n"
        "full = socket.create_server(('127.0.0.1', 0), backlog=0)\n"
        "kept = [socket.create_connection(full.getsockname())]\n"
        "open_ = socket.create_server(('127.0.0.1', 0))\n"
        "shut = socket.create_server(('127.0.0.1', 0)); address = shut.getsockname(); shut.close()\n"
        "with Ckp(sys.argv[1] + '/libinferspan_ckp.so').request('00-' + '1' * 32 + '-' + '2' * 16 + '-01'):\n"
        "    socket.create_connection(open_.getsockname()).close()\n"
        "    try: socket.create_connection(address)\n"
        "    except ConnectionRefusedError: pass\n"
        "    try: socket.create_connection(full.getsockname(), timeout=1.5)\n"
        "    except TimeoutError: pass\n"
    )
    with Observer(f"ckp={KIT}/libinferspan_ckp.so", "flags=10") as observer:
        subprocess.run([sys.executable, "-c", program, KIT, os.path.join(HERE, "..", "ckp")], check=True, timeout=30)
    ours = [e for e in observer.events if e.trace == "1" * 32]
    connects = [e.result for e in ours if e.kind == CONNECT]
    again = [e for e in ours if e.kind == RETRANSMIT]
    report("tcp", connects == [0, -111, -125] and len(again) >= 1,
           f"connects ended with {connects}, {len(again)} packets retransmitted")


def vendor_runtime():
    """Checks the calls of a program on NVIDIA's runtime, which fail without a device."""
    program = os.path.join(KIT, "vadd")
    if not os.path.exists(program):
        print("skip vendor runtime: vadd was not built, because nvcc is missing (set NVCC to its path)")
        return
    needed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True).stdout
    path = next(os.path.realpath(line.split()[2]) for line in needed.splitlines() if "libcudart.so" in line)
    with Observer(f"library={path}", f"ckp={program}") as observer:
        out = subprocess.run([program, "00-" + "3" * 32 + "-" + "4" * 16 + "-01"], stdout=subprocess.PIPE, text=True).stdout
    kinds = collections.Counter((e.kind, e.result) for e in observer.events if e.kind < 100 and e.trace == "3" * 32)
    launches = [e.amount for e in observer.events if e.kind == LAUNCH]
    amounts = [e.amount for e in observer.events if e.kind == ALLOC]
    libraries = {e.text for e in observer.events if e.kind == LIBRARY}
    report("vendor runtime", launches == [4096] and amounts == [4 << 20] * 3 and any("libcudart" in x for x in libraries),
           f"{os.path.basename(path)}: {out.strip()}; calls by (kind, result) {dict(kinds)}, grids {launches}, allocated bytes {amounts}, "
           f"libraries {libraries}")


def streams():
    """Checks that the stand-in for CUDA runs a program that uses more streams than it has slots."""
    program = (
        "import ctypes, sys; driver = ctypes.CDLL(sys.argv[1] + '/libcuda.so.1')\n"
        "for i in range(3000):\n"
        "    driver.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(i * 16), None, None)\n"
        "    driver.cuStreamSynchronize(ctypes.c_void_p(i * 16))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, KIT], stderr=subprocess.PIPE, text=True, timeout=60,
                         env={**os.environ, "FAKE_CUDA_KERNEL": "10us"})
    report("streams of the stand-in", ran.returncode == 0, f"3000 streams, exit status {ran.returncode} {ran.stderr.strip()}")


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261
    parts = {
        "scenes": scenes,
        # The same scenes, with pairs of probes instead of session probes, and without records of system calls and the scheduler.
        "pair": lambda: scenes(["pair", "flags=f3"]),
        "interleaved": lambda: interleaved(report, seed),
        "durations": durations,
        "rate": lambda: rate(float(os.environ.get("CHECK_SECONDS", "2")), 2),
        "contexts": contexts,
        "descriptors": lambda: descriptors(report),
        "full": lambda: full(report),
        "missed_ends": lambda: missed_ends(report),
        "owners": lambda: owners(report),
        "adopted": lambda: adopted(report),
        "steps": lambda: steps(report),
        "messages": lambda: messages(report),
        "waits": waits,
        "cgroups": cgroups,
        "targets": targets,
        "overflow": overflow,
        "tcp": tcp,
        "vendor": vendor_runtime,
        "streams": streams,
        "verified": lambda: verified(report),
    }
    for name in sys.argv[3:] or parts:
        parts[name]()
    if failures:
        raise SystemExit(f"{len(failures)} failed: {', '.join(failures)}")


main()
