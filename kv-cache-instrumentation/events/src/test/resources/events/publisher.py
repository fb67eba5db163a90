"""A publisher like vLLM's and SGLang's over libzmq, controlled by lines of JSON on stdin.

usage: publisher.py <port to publish on> <port to replay on, or 0>
"""
import json
import sys
import time

import msgpack
import zmq

END = (2**64 - 1).to_bytes(8, "big")
context = zmq.Context()
# An XPUB is a PUB that also reports subscriptions, so a test knows when it can start.
pub = context.socket(zmq.XPUB)
pub.setsockopt(zmq.LINGER, 0)
pub.setsockopt(zmq.SNDHWM, 100_000)
pub.setsockopt(zmq.XPUB_VERBOSE, 1)
pub.bind("tcp://127.0.0.1:" + sys.argv[1])
router = None
if sys.argv[2] != "0":
    router = context.socket(zmq.ROUTER)
    router.setsockopt(zmq.LINGER, 0)
    router.bind("tcp://127.0.0.1:" + sys.argv[2])
topic = b"kv@a-pod@a-model"
buffer = []
asked = []
shape = "vllm"


def unhex(value):
    if isinstance(value, dict):
        return bytes.fromhex(value["$bytes"]) if "$bytes" in value else {k: unhex(v) for k, v in value.items()}
    return [unhex(v) for v in value] if isinstance(value, list) else value


def reply(client, seq, payload):
    if shape == "vllm":
        router.send_multipart((client, b"", seq, payload))
    elif shape == "bare":
        router.send_multipart((client, seq, payload))
    elif shape == "simulator":
        router.send_multipart((client, topic, seq, payload))
    elif shape == "delimited-simulator":
        router.send_multipart((client, b"", topic, seq, payload))


def replay():
    frames = router.recv_multipart()
    if len(frames) != 3 or frames[1] != b"" or len(frames[2]) != 8:
        asked.append(-1)
        return
    start = int.from_bytes(frames[2], "big")
    asked.append(start)
    if shape == "silent":
        return
    for seq, payload in buffer:
        if seq >= start:
            reply(frames[0], seq.to_bytes(8, "big"), payload)
    reply(frames[0], END, b"")


def told(line):
    global topic, shape
    what = json.loads(line)
    if what["op"] == "subscribed":
        begins = b""
        while begins[:1] != b"\x01":
            if not pub.poll(20_000):
                return "nobody"
            begins = pub.recv()
    elif what["op"] == "send":
        payload = msgpack.packb([time.time(), unhex(what["events"]), 0])
        seq = what["seq"]
        if not what.get("unbuffered"):
            buffer.append((seq, payload))
        if not what.get("lost"):
            pub.send_multipart((topic, seq.to_bytes(8, "big"), payload))
    elif what["op"] == "raw":
        pub.send_multipart([bytes.fromhex(frame) for frame in what["frames"]])
    elif what["op"] == "shape":
        shape = what["shape"]
    elif what["op"] == "asked":
        return json.dumps(asked)
    return "done"


poller = zmq.Poller()
poller.register(sys.stdin.fileno(), zmq.POLLIN)
if router:
    poller.register(router, zmq.POLLIN)
print("ready", flush=True)
stdin = sys.stdin.buffer.raw
pending = b""
while True:
    for ready, _ in poller.poll():
        if ready == router:
            replay()
        else:
            more = stdin.read(65536)
            if not more:
                sys.exit(0)
            pending += more
            *lines, pending = pending.split(b"\n")
            for line in lines:
                print(told(line), flush=True)
