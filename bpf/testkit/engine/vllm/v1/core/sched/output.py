# SPDX-License-Identifier: Apache-2.0
"""What a step consists of, as it reaches the workers."""

from dataclasses import dataclass, field


@dataclass
class NewRequestData:
    req_id: str
    prompt_token_ids: list
    num_computed_tokens: int


@dataclass
class CachedRequestData:
    """One for all requests that the worker knows; a list of one per request before 0.9.2."""

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
