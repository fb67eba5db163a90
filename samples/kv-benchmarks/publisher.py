"""Engines that publish KV events over libzmq as fast as they can.

usage: publisher.py <engines> <batches per engine> <high-water mark>

Every batch stores 32 blocks of 16 tokens, the first blocks of a prompt. From the 1,001st batch on, it also
removes the blocks that were stored 1,000 batches earlier. All batches are encoded before the first one is
sent. The script prints the engines' ports, and "subscribed" when each engine has a subscriber. It sends the
batches when it reads the line "go" from its input, and one more batch per engine at the line "end".
"""
import random
import sys
import time

import msgpack
import zmq

ENGINES, BATCHES, HWM = (int(arg) for arg in sys.argv[1:4])
BLOCKS, TOKENS, KEPT = 32, 16, 1000
rng = random.Random(1)


def batch(number):
    """Encodes a batch. Hashes of blocks have 8 bytes; token ids are below 128,256, the size of Llama 3's vocabulary."""
    hashes = [((number * BLOCKS + i) * 0x9E3779B97F4A7C15 + 1) % 2**64 for i in range(BLOCKS)]
    tokens = [rng.randrange(128_256) for _ in range(BLOCKS * TOKENS)]
    events = [["BlockStored", hashes, None, tokens, TOKENS, None, "GPU"]]
    if number >= KEPT:
        old = number - KEPT
        gone = [((old * BLOCKS + i) * 0x9E3779B97F4A7C15 + 1) % 2**64 for i in range(BLOCKS)]
        events.append(["BlockRemoved", gone, "GPU"])
    return msgpack.packb([time.time(), events, 0])


context = zmq.Context(1)
sockets = []
for _ in range(ENGINES):
    socket = context.socket(zmq.XPUB)
    socket.setsockopt(zmq.SNDHWM, HWM)
    socket.setsockopt(zmq.LINGER, 0)
    sockets.append(socket)
ports = [str(socket.bind_to_random_port("tcp://127.0.0.1")) for socket in sockets]
frames = [(number.to_bytes(8, "big"), batch(number)) for number in range(BATCHES + 1)]
print(" ".join(ports), flush=True)
for socket in sockets:
    socket.recv()
print("subscribed", flush=True)
assert sys.stdin.readline() == "go\n"
begin = time.time()
for seq, payload in frames[:-1]:
    for engine, socket in enumerate(sockets):
        socket.send_multipart((b"kv@%d@a-model" % engine, seq, payload))
print(f"{time.time() - begin:.3f}", flush=True)
assert sys.stdin.readline() == "end\n"
seq, payload = frames[-1]
for engine, socket in enumerate(sockets):
    socket.send_multipart((b"kv@%d@a-model" % engine, seq, payload))
sys.stdin.readline()
