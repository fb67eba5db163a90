/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes run the steps of an engine, each for all requests of a batch. */
#ifndef INFERSPAN_STEPS_H
#define INFERSPAN_STEPS_H

#include "context.h"

/* The last step of the process, or NULL where it runs none. */
static __always_inline u64 *engine_of(u32 tgid)
{
	struct ispan_activity *activity = activity_now();

	return activity && activity->engines ? bpf_map_lookup_elem(&engines, &tgid) : NULL;
}

static __always_inline void engine_runs(u32 tgid, u64 step)
{
	struct ispan_activity *activity = activity_now();
	u64 *last = bpf_map_lookup_elem(&engines, &tgid);

	if (last)
		*last = step;
	else if (activity && !bpf_map_update_elem(&engines, &tgid, &step, BPF_NOEXIST))
		__sync_fetch_and_add(&activity->engines, 1);
}

static __always_inline void engine_gone(u32 tgid)
{
	struct ispan_activity *activity = activity_now();

	if (activity && activity->engines && !bpf_map_delete_elem(&engines, &tgid))
		__sync_fetch_and_add(&activity->engines, -1);
}

/*
 * With asynchronous scheduling a thread without a step waits for the device, and so says when a step was done: such waits carry
 * the number of the last step. 0: the call is none, or not of an engine. Not static, so that the verifier reads it once.
 */
__noinline u64 step_waited_for(u32 tgid, u32 kind)
{
	u64 *step = engine_of(tgid);

	switch (kind) {
	case ISPAN_KIND_CUDA_STREAM_SYNC:
	case ISPAN_KIND_CUDA_EVENT_SYNC:
	case ISPAN_KIND_CUDA_DEVICE_SYNC:
	case ISPAN_KIND_CUDA_EVENT_QUERY:
	case ISPAN_KIND_CUDA_STREAM_QUERY:
		return step ? *step : 0;
	default:
		return 0;
	}
}

#endif
