# SPDX-License-Identifier: Apache-2.0
"""guest.py KIT JAR JVM_MILLIS [PART …]: the tests that kernels/check runs in a virtual machine (the guest) for each kernel.

Runs the bridge's command doctor, checks which capture policies the kernel accepts, runs the agent with a program that uses the stand-ins
for CUDA and NCCL, and runs the named parts of testkit/check (default: the parts that measure no times). KIT is the output directory of
testkit/build, and JAR the bridge's jar. JVM_MILLIS is the time that `java -jar JAR --version` takes on the host. Time limits are
multiplied by how much longer this command takes in the guest. Exits with 1 if a test fails.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

KIT, JAR, JVM_MILLIS, PARTS = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin", "java")
# For runs that are not timed: optimising compilation is slow on an emulated CPU.
QUICK_JAVA = [JAVA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", JAR]
TESTKIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TRACE, SPAN = "7" * 32, "3" * 16
PREBUILT = os.path.join(TESTKIT, "..", "prebuilt", "testkit")
SAFE = ["keep-all", "rate-limit", "slow-only", "adaptive", "slo", "latency", os.path.join(PREBUILT, "drop_all.bpf.o")]
# By program: a part of the expected remedy, which identifies the kind of mistake.
UNSAFE = {
    "null_lookup": "with NULL before",
    "out_of_bounds": "against the size",
    "illegal_helper": "only helpers that",
    "stack_overflow": "512 bytes of stack",
    "endless_loop": "give the loop a bound",
    "write_to_context": "only read the context",
    "divide_by_zero": "not always zero",
}
OBJECTS = ("context", "process", "sched", "tcp", "calls", "ckp")
WANTED = {"cuda.launch", "nccl.group_end", "sched.offcpu", "syscall.openat"}
START_SECONDS, STOP_SECONDS = 3, 2
ALL_PARTS = ["scenes", "interleaved", "contexts", "descriptors", "full", "missed_ends", "waits", "cgroups", "targets", "overflow",
             "tcp", "verified"]
# Makes calls in consecutive requests until it is killed, so that it does not matter when the probes are attached.
PROGRAM = """
import ctypes, sys, time
sys.path.insert(0, sys.argv[2])
from inferspan_ckp import Ckp
cuda, nccl, ckp = ctypes.CDLL(sys.argv[1] + "/libcuda.so.1"), ctypes.CDLL(sys.argv[1] + "/libnccl.so.2"), Ckp(sys.argv[1] + "/libinferspan_ckp.so")
while True:
    with ckp.request(sys.argv[3]):
        cuda.cuLaunchKernel(None, 4, 1, 1, 1, 1, 1, 0, None, None, None)
        nccl.ncclGroupStart()
        nccl.ncclGroupEnd()
        open("/dev/null").close()
        time.sleep(0.05)
"""
failures = []


def report(name, ok, text):
    print(f"{'ok  ' if ok else 'FAIL'} {name}: {text}", flush=True)
    if not ok:
        failures.append(name)


def seconds_of(command):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def doctor():
    found = subprocess.run([*QUICK_JAVA, "doctor"], capture_output=True, text=True)
    loaded = all(f"programs: {name}" in found.stdout for name in OBJECTS)
    report("doctor", found.returncode == 0 and loaded and "verifier" not in found.stdout, found.stdout.strip().splitlines()[-1] if found.stdout else found.stderr)
    for line in found.stdout.splitlines():
        if " limited " in line or " NO " in line:
            print("    " + line.strip())


def policy(*words):
    return subprocess.run([*QUICK_JAVA, "policy", *words], capture_output=True, text=True)


def verdicts():
    """Checks that the kernel accepts each safe policy and refuses each unsafe one, and that the source line and the remedy are printed."""
    files = [os.path.join(PREBUILT, name + ".bpf.o") for name in UNSAFE]
    found = policy("check", *SAFE, *files)
    wrong = [name for name in SAFE if f"{os.path.basename(name).removesuffix('.bpf.o')}: accepted as a" not in found.stdout]
    for name, mistake in UNSAFE.items():
        line = next((line for line in found.stderr.splitlines() if f"refused program {name} " in line), "")
        print("    " + line)
        # All kernels print the source line; those newer than 6.1 also print its number.
        if f'refused program {name} of object {name} at "' not in line or mistake not in line:
            wrong.append(name)
    report("policies", not wrong, f"wrong: {wrong}\n{found.stdout}" if wrong else f"{len(SAFE)} accepted, {len(UNSAFE)} refused")


def folds(limit):
    """Checks that a policy that is loaded into the running agent folds calls."""
    loaded = policy("load", "slow-only")
    listed = policy("list")
    while " 0 folded" in listed.stdout and time.monotonic() < limit:
        listed = policy("list")
    said = (loaded.stdout + loaded.stderr + listed.stdout + listed.stderr).strip()
    report("policy in the agent", "policy: slow_only" in said and re.search(r" [1-9]\d* folded", said), said)


def is_attached(line):
    return all(name in line for name in OBJECTS)


def agent(slowness):
    """Checks that the agent attaches all objects and exports calls as spans, and how long it takes to start and to stop."""
    spans = os.path.join(KIT, "spans")
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "otlp_file", "INFERSPAN_OTLP_FILE_PATH": spans,
                   "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, KIT, os.path.join(TESTKIT, "..", "ckp"), f"00-{TRACE}-{SPAN}-01"])
    began = time.monotonic()
    process = subprocess.Popen([JAVA, "-jar", JAR, "agent"], stderr=subprocess.PIPE, text=True, env=environment)
    said = []
    for line in process.stderr:
        said.append(line.rstrip())
        if line.startswith("ready"):
            break
    start = time.monotonic() - began
    report("agent attaches everything", bool(said) and is_attached(said[-1]) and not any("verifier" in line for line in said),
           said[-1] if said else "it printed nothing")
    limit = time.monotonic() + 10 + 2 * slowness
    while not WANTED <= names_of(spans) and time.monotonic() < limit:
        time.sleep(1)
    folds(time.monotonic() + 10 + 2 * slowness)
    program.kill()
    program.wait()
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    last = process.stderr.read().strip()
    status = process.wait(120)
    stop = time.monotonic() - began
    report("agent stops", status == 143 and "detached" in last, f"status {status}: {last}")
    names = names_of(spans)
    report("spans", WANTED <= names, f"spans of the trace: {sorted(names)}")
    report("start", start <= START_SECONDS * slowness, f"{start:.1f} s; divided by the slow-down: {start / slowness:.1f} s, at most {START_SECONDS} s")
    report("stop", stop <= STOP_SECONDS * slowness, f"{stop:.1f} s; divided by the slow-down: {stop / slowness:.1f} s, at most {STOP_SECONDS} s")


def names_of(path):
    """Returns the names of the trace's spans that the agent has written so far; the file's last line may be incomplete."""
    names = set()
    with contextlib.suppress(FileNotFoundError, json.JSONDecodeError), open(path) as lines:
        for line in lines:
            for resource in json.loads(line)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    names |= {span["name"] for span in scope["spans"] if span["traceId"] == TRACE}
    return names


def main():
    slowness = min(seconds_of([JAVA, "-jar", JAR, "--version"]) for _ in range(2)) * 1000 / JVM_MILLIS
    print(f"Linux {os.uname().release}, {slowness:.1f} times slower than the host (measured by the start of a JVM)", flush=True)
    doctor()
    verdicts()
    agent(max(1, slowness))
    began = time.monotonic()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CHECK_SLOWNESS": f"{max(1, slowness):.1f}"}
    kit = subprocess.run([sys.executable, os.path.join(TESTKIT, "check.py"), KIT, "20261", *(PARTS or ALL_PARTS)], env=environment)
    report("test kit", kit.returncode == 0, f"{time.monotonic() - began:.0f} s")
    raise SystemExit(1 if failures else 0)


main()
