# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes the messages between API server and engine of the stand-in for vLLM: msgpack arrays whose fields depend on vLLM's
release."""

import msgpack

from vllm.standin import CONFIG, RELEASE

ADD, ABORT = b"\x00", b"\x01"

_OLD = "request_id prompt_token_ids mm_inputs mm_hashes mm_placeholders sampling_params"
_MM = "request_id prompt_token_ids mm_features sampling_params pooling_params"
_RANKED = "arrival_time lora_request cache_salt data_parallel_rank"
_TAIL = "client_index current_wave priority"

# The fields of a request from each release on, in the order of that release's source.
REQUEST = [
    ((0, 8, 5), f"{_OLD} eos_token_id arrival_time lora_request current_wave"),
    ((0, 9, 0), f"{_OLD} eos_token_id arrival_time lora_request cache_salt current_wave"),
    ((0, 9, 1), f"{_OLD} eos_token_id {_RANKED} client_index current_wave"),
    ((0, 9, 2), f"{_OLD} pooling_params eos_token_id {_RANKED} {_TAIL}"),
    ((0, 10, 2), f"{_MM} eos_token_id {_RANKED} {_TAIL} trace_headers"),
    ((0, 11, 0), f"{_MM} eos_token_id {_RANKED} prompt_embeds {_TAIL} trace_headers"),
    ((0, 14, 0), f"{_MM} eos_token_id {_RANKED} prompt_embeds {_TAIL} trace_headers external_req_id"),
    ((0, 16, 0), f"{_MM} eos_token_id {_RANKED} prompt_embeds {_TAIL} trace_headers resumable external_req_id reasoning_ended"),
    ((0, 17, 0), f"{_MM} {_RANKED} prompt_embeds {_TAIL} trace_headers resumable external_req_id reasoning_ended"),
    ((0, 23, 0), f"{_MM} {_RANKED} prompt_embeds prompt_is_token_ids {_TAIL} trace_headers resumable external_req_id"
                 " reasoning_ended reasoning_parser_kwargs abort_immediately"),
]
_OUTPUT_LENGTH = [((0, 8, 5), 7), ((0, 9, 0), 9), ((0, 9, 2), 10), ((0, 10, 2), 11), ((0, 11, 2), 12), ((0, 14, 0), 13),
                  ((0, 16, 0), 14), ((0, 23, 0), 13)]


def of_release(table):
    return [value for since, value in table if since <= RELEASE][-1]


FIELDS = of_release(REQUEST).split()
OUTPUT_LENGTH = of_release(_OUTPUT_LENGTH)
FINISH = 4 if OUTPUT_LENGTH < 10 else 5


def request(**known):
    """Encodes a request as an array of all fields; those that are not given are nil."""
    return msgpack.packb([known.get(name) for name in FIELDS] + [None] * CONFIG["extra_fields"])


def read_request(payload):
    return dict(zip(FIELDS, msgpack.unpackb(payload)))


def output(request_id, tokens, finish, events):
    fields = [None] * OUTPUT_LENGTH
    fields[0], fields[1], fields[FINISH], fields[FINISH + 2] = request_id, tokens, finish, events
    return fields


def outputs(engine, items, stats, timestamp):
    return msgpack.packb([engine, items, stats, timestamp, None, None, None, None])


def read_outputs(payload):
    """Decodes outputs: the time of the step, and per output the request id, the new tokens and the finish reason."""
    fields = msgpack.unpackb(payload)
    return fields[3], [(item[0], item[1], item[FINISH]) for item in fields[1]]
