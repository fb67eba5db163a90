# SPDX-License-Identifier: Apache-2.0
"""The description of a step that the scheduler sends to the workers."""

from dataclasses import dataclass, field


@dataclass
class NewRequestData:
    req_id: str
    prompt_token_ids: list
    num_computed_tokens: int


@dataclass
class CachedRequestData:
    """Data of all requests that the worker knows. Before 0.9.2, it was a list with one entry per request."""

    req_ids: list = field(default_factory=list)
    resumed_req_ids: set = field(default_factory=set)
    num_computed_tokens: list = field(default_factory=list)


@dataclass
class OldCachedRequestData:
    req_id: str
    resumed_from_preemption: bool
    num_computed_tokens: int


@dataclass
class SchedulerOutput:
    scheduled_new_reqs: list
    scheduled_cached_reqs: object
    num_scheduled_tokens: dict
    total_num_scheduled_tokens: int
    finished_req_ids: set
    preempted_req_ids: set = None
