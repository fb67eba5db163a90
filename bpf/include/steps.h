/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes run the steps of an engine, each for all requests of a batch. */
#ifndef INFERSPAN_STEPS_H
#define INFERSPAN_STEPS_H

#include "context.h"
#include <bpf/bpf_core_read.h>

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
	if (activity && activity->framed && !bpf_map_delete_elem(&framed, &tgid))
		__sync_fetch_and_add(&activity->framed, -1);
}

static __always_inline u32 parent_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, real_parent, tgid);
}

/* Of an engine's process: the parent, and above it that one's parent. The API server that read a request's head is one of them. */
static __always_inline u64 parents_of(struct task_struct *task)
{
	u32 parent = parent_of(task);

	return (u64)(u32)BPF_CORE_READ(task, real_parent, real_parent, tgid) << 32 | parent;
}

static __always_inline bool any_framed(void)
{
	struct ispan_activity *activity = activity_now();

	return activity && activity->framed;
}

/* A plugin marks the steps of this process, which is the engine or a worker that the engine started. */
static __always_inline void plugin_runs(u32 tgid, u32 parent)
{
	struct ispan_framed *engine;

	if (!any_framed())
		return;
	engine = bpf_map_lookup_elem(&framed, &tgid);
	if (!engine)
		engine = bpf_map_lookup_elem(&framed, &parent);
	if (engine)
		engine->flags |= FRAMED_BY_PLUGIN;
}

/* Calls of an engine whose messages are read, and of its workers, carry its number: the reader knows by the time which step's they are. */
static __always_inline u64 framed_owner(u32 tgid)
{
	u32 parent = parent_of(bpf_get_current_task_btf());
	struct ispan_framed *engine = bpf_map_lookup_elem(&framed, &tgid);

	if (!engine)
		engine = bpf_map_lookup_elem(&framed, &parent);
	return engine && !(engine->flags & FRAMED_BY_PLUGIN) ? engine->owner : 0;
}

/*
 * Of a thread without a step. With asynchronous scheduling such a thread waits for the device, and so says when a step was done:
 * its waits carry the number of the last step. 0: the call is none, or not of an engine. Not static, so that the verifier reads it once.
 */
__noinline u64 step_waited_for(u32 tgid, u32 kind)
{
	u64 *step = engine_of(tgid);

	if (!step && any_framed())
		return framed_owner(tgid);
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
