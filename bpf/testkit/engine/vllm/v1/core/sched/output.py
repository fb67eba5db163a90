# SPDX-License-Identifier: Apache-2.0
"""The data classes with which the scheduler of the stand-in for vLLM describes a step to the workers. Names and fields are those of
vLLM."""

from dataclasses import dataclass, field


@dataclass
class NewRequestData:
    req_id: str
    prompt_token_ids: list
    num_computed_tokens: int


@dataclass
class CachedRequestData:
    """The requests of a step that the worker already knows, from 0.9.2 on."""

    req_ids: list = field(default_factory=list)
    resumed_req_ids: set = field(default_factory=set)
    num_computed_tokens: list = field(default_factory=list)


@dataclass
class OldCachedRequestData:
    """A request of a step that the worker already knows, before 0.9.2."""

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
