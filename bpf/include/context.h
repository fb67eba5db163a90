/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom a thread serves: its own published context, its request, or the contract map; in that order. */
#ifndef INFERSPAN_CONTEXT_H
#define INFERSPAN_CONTEXT_H

#include "emit.h"

struct ispan_context {
	u8 trace_id[16];
	u8 span_id[8];
	u64 request;
	u64 source;
};

static __always_inline struct ispan_thread *thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, NULL, 0);
}

static __always_inline struct ispan_thread *thread_made_of(struct task_struct *task)
{
	struct ispan_thread *thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!thread)
		count(ISPAN_COUNT_NO_MEMORY);
	return thread;
}

static __always_inline struct ispan_activity *activity_now(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&activity, &zero);
}

/*
 * The time since which somebody may have been served without a pause; 0: nobody is, and the thread needs no look. What
 * began before it was of another time, and its end was not looked at. The reader's own threads and those of the contract
 * map begin to be served without a word to us, so that they always need a look.
 */
static __always_inline u64 served_since(const struct ispan_settings *settings, struct task_struct *task)
{
	struct ispan_activity *activity;

	if (settings->flags & ISPAN_READ_OTEL || task->tgid == settings->self_tgid)
		return 1;
	activity = activity_now();
	return activity && activity->requests ? activity->since_ns : 0;
}

static __always_inline bool in_cgroup(const struct ispan_settings *settings)
{
	return !settings->cgroup || bpf_get_current_ancestor_cgroup_id(settings->cgroup_level) == settings->cgroup;
}

/* Whether requests that reach this process are looked at. The reader's own threads say themselves whom they serve. */
static __always_inline bool in_scope(const struct ispan_settings *settings, u32 tgid)
{
	if (tgid == settings->self_tgid)
		return false;
	if (settings->scope != ISPAN_SCOPE_EVERYTHING && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	return in_cgroup(settings);
}

static __always_inline bool own_context(u32 tid, struct ispan_context *context)
{
	u32 *slot = bpf_map_lookup_elem(&own_threads, &tid);
	struct ispan_own *own;
	u32 index;

	if (!slot)
		return false;
	index = *slot - 1;
	own = bpf_map_lookup_elem(&own_contexts, &index);
	if (!own || !own->valid)
		return false;
	__builtin_memcpy(context->trace_id, own->trace_id, sizeof(context->trace_id));
	__builtin_memcpy(context->span_id, own->span_id, sizeof(context->span_id));
	context->request = 0;
	context->source = ISPAN_SOURCE_OWN;
	return true;
}

/* Asks the map, and keeps what it says. */
static __always_inline bool learn_request(struct ispan_thread *thread, struct ispan_activity *activity, u64 number)
{
	/* Read before the map is asked, and as a barrier: an end between the two must show the next time. */
	u64 ended = __sync_fetch_and_add(&activity->ended, 0);
	struct ispan_request *request = bpf_map_lookup_elem(&requests, &number);

	if (!request) {
		thread->request = 0;
		return false;
	}
	__builtin_memcpy(thread->known_trace_id, request->trace_id, sizeof(thread->known_trace_id));
	__builtin_memcpy(thread->known_span_id, request->span_id, sizeof(thread->known_span_id));
	thread->known = number;
	thread->known_ended = ended;
	return true;
}

/* As long as no request of the machine has ended since the thread's was seen alive, it is: the map is not asked for each event. */
static __always_inline bool request_context(struct ispan_thread *thread, struct ispan_context *context)
{
	struct ispan_activity *activity = activity_now();
	u64 number = thread->request;

	if (!number || !activity || thread->flags & ISPAN_THREAD_AWAY)
		return false;
	if ((thread->known != number || thread->known_ended != activity->ended) &&
	    !learn_request(thread, activity, number))
		return false;
	__builtin_memcpy(context->trace_id, thread->known_trace_id, sizeof(context->trace_id));
	__builtin_memcpy(context->span_id, thread->known_span_id, sizeof(context->span_id));
	context->request = number;
	context->source = thread->source;
	return true;
}

static __always_inline bool otel_context(u32 tgid, u32 tid, struct ispan_context *context)
{
	u64 pid_tgid = (u64)tgid << 32 | tid;
	struct ispan_otel_context *otel = bpf_map_lookup_elem(&otel_contexts, &pid_tgid);

	if (!otel)
		return false;
	__builtin_memcpy(context->trace_id, otel->trace_id, sizeof(context->trace_id));
	__builtin_memcpy(context->span_id, otel->span_id, sizeof(context->span_id));
	context->request = 0;
	context->source = ISPAN_SOURCE_OTEL;
	return true;
}

/* Fills in the thread's context and says true, or says false: then nothing may be emitted. thread may be NULL. */
static __always_inline bool context_of(const struct ispan_settings *settings, struct ispan_thread *thread, u32 tgid,
				       u32 tid, struct ispan_context *context)
{
	if (tgid == settings->self_tgid)
		return own_context(tid, context);
	if (thread && request_context(thread, context))
		return true;
	if (!(settings->flags & ISPAN_READ_OTEL) || (thread && thread->flags & ISPAN_THREAD_WAITING))
		return false;
	return otel_context(tgid, tid, context);
}

/*
 * Whether it is worth remembering that something begins. Cheaper than context_of, which must be asked at the end: a
 * number may be that of a request that has ended, and is forgotten when that shows. The reader's own threads never
 * carry a number.
 */
static __always_inline bool may_have_context(const struct ispan_settings *settings, struct ispan_thread *thread,
					     struct task_struct *task)
{
	struct ispan_context context;

	if (thread && thread->request && !(thread->flags & ISPAN_THREAD_LEFT))
		return !(thread->flags & ISPAN_THREAD_WAITING);
	return context_of(settings, thread, task->tgid, task->pid, &context);
}

static __always_inline void record_fill(struct ispan_record *record, const struct ispan_context *context, u64 pid_tgid,
					u16 kind)
{
	__builtin_memcpy(record->trace_id, context->trace_id, sizeof(record->trace_id));
	__builtin_memcpy(record->span_id, context->span_id, sizeof(record->span_id));
	record->tgid = pid_tgid >> 32;
	record->tid = (u32)pid_tgid;
	record->kind = kind;
	record->source = context->source;
}

#endif
