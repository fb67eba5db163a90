# SPDX-License-Identifier: Apache-2.0
"""vllm_load.py [STAND_IN]: runs a vLLM server and its clients for the measurements of `gpu-check`. The server has a small model with random
weights, and the plugin inferspan_vllm.py, which reports each step of the engine. STAND_IN is a directory with the test kit's libraries
and engine; if it is given, that engine runs instead of vLLM.

Prints "ready VERSION NANOS", with the time from the server's start until it is healthy, or "absent REASON" and exits. Then it responds to
each line of input with result lines and "done", or with "failed REASON":

  tokens SHARE    sends 40 requests to the server, SHARE percent of them sampled
    -> sampled TRACEPARENT for each sampled request
    -> tokens COUNT NANOS: the generated tokens, and the time from the first request to the last response
  stack SHARE     sends 40 requests to a gateway with an endpoint picker. The gateway sends them to the P/D sidecar, and that to the server
    -> the result lines of tokens
    -> complete TRACEPARENT for each sampled request whose trace has the spans of gateway, endpoint picker and sidecar
"""

import concurrent.futures
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS, REQUESTS, TOKENS, WORDS = 8, 40, 64, 8192


def write_model(directory):
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2, **{f"w{i}": i for i in range(3, WORDS)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(os.path.join(directory, "tokenizer.json"))
    special = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    shape = {"vocab_size": WORDS, "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 16,
             "num_attention_heads": 16, "num_key_value_heads": 8, "max_position_embeddings": 512, "rms_norm_eps": 1e-5}
    for name, content in {
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **special},
        "config.json": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
                        "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": False, **shape},
    }.items():
        with open(os.path.join(directory, name), "w") as file:
            json.dump(content, file)


def environment_with_plugin(directory):
    entry = os.path.join(directory, "inferspan_vllm-0.dist-info")
    os.mkdir(entry)
    with open(os.path.join(entry, "entry_points.txt"), "w") as file:
        file.write("[vllm.general_plugins]\ninferspan = inferspan_vllm:register\n")
    paths = filter(None, [directory, HERE, os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "INFERSPAN_CKP": os.path.join(HERE, "libinferspan_ckp.so")}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


def start(directory, log):
    """Starts the server; returns its process, version and address."""
    port = free_port()
    if len(sys.argv) > 1:
        version, command = "stand-in", [os.path.join(sys.argv[1], "engine"), "--port", port, "--libraries", sys.argv[1]]
    else:
        import vllm

        write_model(directory)
        version, command = vllm.__version__, [
            sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", directory, "--served-model-name", "random",
            "--load-format", "dummy", "--max-model-len", "512", "--gpu-memory-utilization", "0.3", "--host", "127.0.0.1",
            "--port", port]
    server = subprocess.Popen(command, stdout=log, stderr=log, env=environment_with_plugin(directory))
    return server, version, f"http://127.0.0.1:{port}"


def await_health(server, address, log):
    while True:
        try:
            return urllib.request.urlopen(address + "/health", timeout=5).read()
        except OSError:
            if server.poll() is not None:
                log.seek(0)
                raise RuntimeError("the server ended; the last line of its log: " + log.read().strip().rpartition("\n")[2])
            time.sleep(0.2)


def complete(address, number, traceparent):
    body = {"model": "random", "prompt": f"w{3 + number % 1000} w4 w5 w6", "max_tokens": TOKENS, "ignore_eos": True}
    headers = {"Content-Type": "application/json", "traceparent": traceparent, "x-request-id": traceparent.split("-")[1]}
    request = urllib.request.Request(address + "/v1/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["usage"]["completion_tokens"]


def start_java(arguments, spans, log):
    """Starts a Java program that writes its spans to a file; returns its process and address."""
    port = free_port()
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "otlp_file", "INFERSPAN_OTLP_FILE_PATH": spans,
                   "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
    java = os.path.join(HERE, "..", "runtime", "bin", "java")
    process = subprocess.Popen([java, "-Xmx256m", "--enable-native-access=ALL-UNNAMED", "-jar", *arguments, "--port=" + port],
                               stdout=log, stderr=log, env=environment)
    return process, "http://127.0.0.1:" + port


def names_by_trace(path):
    names = {}
    with open(path) as file:
        for line in file:
            for resource in json.loads(line)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        names.setdefault(span["traceId"], set()).add(span["name"])
    return names


def play_stack(engine, share, directory, log):
    files = [os.path.join(directory, name) for name in ("sidecar.jsonl", "gateway.jsonl")]
    processes = []
    try:
        sidecar, address = start_java([os.path.join(HERE, "inferspan-pd-sidecar.jar"), "--secure-proxy=false", "--tracing",
                                       "--vllm-port=" + engine.rpartition(":")[2]], files[0], log)
        processes.append(sidecar)
        await_health(sidecar, address, log)
        gateway, address = start_java([os.path.join(HERE, "gateway", "inferspan-vertx-gateway.jar"), "--metrics-port=none",
                                       "--decode=" + address.rpartition("/")[2]], files[1], log)
        processes.append(gateway)
        await_health(gateway, address, log)
        contexts = play(address, share)
        for process in processes:
            process.terminate()
            process.wait(30)
    finally:
        for process in processes:
            process.kill()
    proxied, routed = map(names_by_trace, files)
    for context in contexts:
        trace = context.split("-")[1]
        if "llm_d.pd_proxy.request" in proxied.get(trace, ()) and {"gateway.request", "pick_endpoints"} <= routed.get(trace, set()):
            print("complete", context)


def play(address, share):
    chosen = [number * 37 % 100 < share for number in range(1, REQUESTS + 1)]
    contexts = [f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-0{int(sampled)}" for sampled in chosen]
    began = time.monotonic_ns()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        tokens = sum(clients.map(complete, [address] * REQUESTS, range(REQUESTS), contexts))
    nanos = time.monotonic_ns() - began
    sampled = [context for context in contexts if context.endswith("1")]
    for context in sampled:
        print("sampled", context)
    print("tokens", tokens, nanos)
    return sampled


def main():
    with tempfile.TemporaryDirectory() as directory, open(os.path.join(directory, "log"), "w+") as log:
        began = time.monotonic_ns()
        try:
            server, version, address = start(directory, log)
        except ImportError as missing:
            return print("absent", missing)
        try:
            await_health(server, address, log)
            print("ready", version, time.monotonic_ns() - began, flush=True)
            for line in sys.stdin:
                try:
                    word, share = line.split()
                    if word == "stack":
                        play_stack(address, int(share), directory, log)
                    else:
                        play(address, int(share))
                    print("done", flush=True)
                except Exception as failure:
                    print("failed", type(failure).__name__, " ".join(str(failure).split())[:300], flush=True)
        finally:
            server.kill()


main()
