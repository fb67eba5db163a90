/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks the processes that run an engine's steps. Each step computes one batch of requests. A plugin in the engine reports the
 * steps; if there is none, the programs read them from the engine's messages (framed.h).
 */
#ifndef INFERSPAN_STEPS_H
#define INFERSPAN_STEPS_H

#include "context.h"
#include <bpf/bpf_core_read.h>

/* Returns a pointer to the number of the process's last step, or NULL if it has run none. */
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

/*
 * Returns the parent and, in the upper half, the grandparent of an engine's process. One of them is the API server that read
 * the request.
 */
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

/* Called when a plugin reports a step of this process, which is the engine or a worker that the engine started. */
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

/*
 * Returns the owner number for calls of an engine whose messages are read, or of its workers. The reader assigns the calls to
 * steps by time.
 */
static __always_inline u64 framed_owner(u32 tgid)
{
	u32 parent = parent_of(bpf_get_current_task_btf());
	struct ispan_framed *engine = bpf_map_lookup_elem(&framed, &tgid);

	if (!engine)
		engine = bpf_map_lookup_elem(&framed, &parent);
	return engine && !(engine->flags & FRAMED_BY_PLUGIN) ? engine->owner : 0;
}

/*
 * Returns the owner of a call on a thread without a context. Waits for the device, queries of it and reads of CUPTI's records
 * belong to the process's last step: with asynchronous scheduling, another thread waits for the step. If the engine's messages are
 * read, all calls belong to the engine. Returns 0 for other calls. Not static, so that the verifier checks it once.
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
	case ISPAN_KIND_CUDA_KERNEL:
		return step ? *step : 0;
	default:
		return 0;
	}
}

#endif
