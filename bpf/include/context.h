/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the context of a thread: what its events are attributed to at this moment (their owner). It is one of these:
 * the span that the thread publishes, its request, its process's only open request, or its entry in the OpenTelemetry context map.
 * It is the process if the reader (the bridge or a test program) has adopted the process as an owner.
 */
#ifndef INFERSPAN_CONTEXT_H
#define INFERSPAN_CONTEXT_H

#include "emit.h"

#define ABANDONED_NANOS 30000000000ull

struct ispan_context {
	u64 owner;
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
 * Returns the time since which at least one request has been open, or 0 if none is open and the thread can be skipped. Events that
 * began before that time are ignored, because the programs did not observe their beginning. The reader's own threads, and threads
 * in the OpenTelemetry context map, are never skipped, because the programs do not observe when they get a context.
 */
static __always_inline u64 served_since(const struct ispan_settings *settings, struct task_struct *task)
{
	struct ispan_activity *activity;

	if (settings->flags & ISPAN_READ_OTEL || task->tgid == settings->self_tgid)
		return 1;
	activity = activity_now();
	return activity && activity->requests ? activity->since_ns : 0;
}

static __always_inline struct ispan_server *server_of(u32 tgid)
{
	return bpf_map_lookup_elem(&servers, &tgid);
}

/* Returns whether the response has begun and is not known to continue. */
static __always_inline bool is_answered(const struct ispan_request *request)
{
	return (request->flags & (ISPAN_REQUEST_RESPONDED | ISPAN_REQUEST_STREAMS)) == ISPAN_REQUEST_RESPONDED;
}

static __always_inline bool in_cgroup(const struct ispan_settings *settings)
{
	return !settings->cgroup || bpf_get_current_ancestor_cgroup_id(settings->cgroup_level) == settings->cgroup;
}

/* Returns whether requests to this process are traced. The reader's own threads publish their context instead. */
static __always_inline bool in_scope(const struct ispan_settings *settings, u32 tgid)
{
	if (tgid == settings->self_tgid)
		return false;
	if (settings->scope != ISPAN_SCOPE_EVERYTHING && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	return in_cgroup(settings);
}

static __always_inline void fill_ids(struct ispan_owner_record *record, const u8 *trace_id, const u8 *span_id)
{
	__builtin_memcpy(record->trace_id, trace_id, sizeof(record->trace_id));
	__builtin_memcpy(record->span_id, span_id, sizeof(record->span_id));
}

/*
 * Announces a span and its number, before the thread's first record with that number. If the ring is full, the reader finds the
 * span in the map from which the number was computed. Not static, so that the verifier checks it once.
 */
__noinline int announce_span(struct ispan_thread *thread, const struct ispan_otel_context *ids, u64 owner, u64 pid_tgid, u64 source)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_owner_record *announced;
	u64 produced;

	if (!settings || !ids)
		return 0;
	if (thread)
		thread->announced = owner;
	announced = reserve_bytes(sizeof(*announced), ISPAN_KIND_OWNER_BEGAN, &produced);
	if (!announced)
		return 0;
	__builtin_memset(announced, 0, sizeof(*announced));
	announced->record.start_ns = announced->record.end_ns = bpf_ktime_get_ns();
	announced->record.owner = owner;
	announced->record.tgid = pid_tgid >> 32;
	announced->record.tid = (u32)pid_tgid;
	announced->record.kind = ISPAN_KIND_OWNER_BEGAN;
	announced->record.source = source;
	announced->record.result = ISPAN_OWNER_SPAN;
	fill_ids(announced, ids->trace_id, ids->span_id);
	bpf_ringbuf_submit(announced, wakeup_flags(settings, produced));
	return 0;
}

static __always_inline bool is_announced(const struct ispan_thread *thread, u64 owner)
{
	return thread && thread->announced == owner;
}

/*
 * Fills in the span that a thread of the reader publishes. Its ids cannot change while they are copied: only the thread itself
 * writes them, and it is not running its own code meanwhile.
 */
static __always_inline bool own_context(struct ispan_thread *thread, u32 tgid, u32 tid, struct ispan_context *context)
{
	u32 *slot = bpf_map_lookup_elem(&own_threads, &tid);
	struct ispan_own *own;
	u32 index;

	if (!slot)
		return false;
	index = *slot - 1;
	own = bpf_map_lookup_elem(&own_contexts, &index);
	if (!own || !own->owner)
		return false;
	context->owner = own->owner;
	context->source = ISPAN_SOURCE_OWN;
	if (!is_announced(thread, context->owner))
		announce_span(thread, &own->ids, context->owner, (u64)tgid << 32 | tid, ISPAN_SOURCE_OWN);
	return true;
}

/* Returns whether the process may still work for a client that has disconnected recently: the end of that work is not observed. */
static __always_inline bool may_serve_disconnected(const struct ispan_server *server)
{
	return server->abandoned_ns && bpf_ktime_get_ns() - server->abandoned_ns < ABANDONED_NANOS;
}

/* Returns whether a timerfd of the process may have expired, or may be handled by a thread other than the one that set it. */
static __always_inline bool is_timerfd_due(const struct ispan_server *server, u32 tid)
{
	if (!server->timer_tid)
		return false;
	return server->flags & SERVER_TIMERS || server->timer_tid != tid || bpf_ktime_get_ns() >= server->timer_ns;
}

/* Returns whether an event loop may do other work than a request's, because a timer is due or something else woke the loop. */
static __always_inline bool may_do_other_work(const struct ispan_thread *thread)
{
	return thread->flags & ISPAN_THREAD_OTHER || (thread->timer_ns && bpf_ktime_get_ns() >= thread->timer_ns);
}

/* Returns whether the thread's work can only belong to this request. Not static, so that the verifier checks it once. */
__noinline int is_alone(const struct ispan_thread *thread, u64 tgid, u64 number)
{
	struct ispan_server *server = server_of(tgid);

	if (!server || !thread)
		return true;
	if (thread->flags & ISPAN_THREAD_LOOP && is_timerfd_due(server, (u32)bpf_get_current_pid_tgid()))
		return false;
	return (!server->open || (server->open == 1 && server->sole_number == number)) && !may_serve_disconnected(server) &&
	       !may_do_other_work(thread);
}

/*
 * Returns whether another thread may serve the request. In a process whose threads have answered requests that other threads read,
 * the reading thread does not identify the request.
 */
static __always_inline bool is_taken_away(const struct ispan_thread *thread, const struct ispan_request *request)
{
	struct ispan_server *server;

	if (thread->source != ISPAN_SOURCE_HTTP)
		return false;
	server = server_of(request->tgid);
	return server && server->flags & SERVER_HANDS_OVER;
}

/* Looks the thread's request up in the map, and remembers the result. */
static __always_inline bool learn_request(struct ispan_thread *thread, struct ispan_activity *activity, u64 number)
{
	/* Read before the look-up, as a barrier: if a request ends between the two, the next check must notice it. */
	u64 ended = __sync_fetch_and_add(&activity->ended, 0);
	struct ispan_request *request = bpf_map_lookup_elem(&requests, &number);

	if (!request || is_taken_away(thread, request)) {
		thread->request = 0;
		return false;
	}
	thread->known = number;
	thread->known_ended = ended;
	return true;
}

/*
 * Fills in the context of a thread that has a request. If no request of the machine has ended since the last look-up, the request
 * still exists, which saves a look-up per event.
 */
static __always_inline bool bound_context(struct ispan_thread *thread, u32 tgid, struct ispan_context *context)
{
	struct ispan_activity *activity = activity_now();
	u64 number = thread->request;

	if (!number || !activity || thread->flags & ISPAN_THREAD_AWAY)
		return false;
	if ((thread->known != number || thread->known_ended != activity->ended) &&
	    !learn_request(thread, activity, number))
		return false;
	if (thread->flags & ISPAN_THREAD_ALONE && !is_alone(thread, tgid, number))
		return false;
	context->owner = number;
	context->source = thread->source;
	return true;
}

/*
 * Returns the process's only open request if this thread read it and no other thread is known to answer it, or 0. Not static, so
 * that the verifier checks it once.
 */
__noinline u64 sole_request(u64 pid_tgid)
{
	struct ispan_server *server = server_of(pid_tgid >> 32);
	struct ispan_connection *connection;
	u64 key, number;

	if (!server || server->open != 1 || server->flags & SERVER_HANDS_OVER || may_serve_disconnected(server) ||
	    is_timerfd_due(server, (u32)pid_tgid))
		return 0;
	key = server->sole;
	number = server->sole_number;
	connection = bpf_map_lookup_elem(&connections, &key);
	if (!connection || connection->number != number || connection->reader != pid_tgid ||
	    (connection->flags & (OPEN_SAMPLED | OPEN_HELPED)) != OPEN_SAMPLED)
		return 0;
	return number;
}

/* Fills in the context of an event loop: its process's only open request. Not static, so that the verifier checks it once. */
__noinline int loop_context(const struct ispan_thread *thread, u64 pid_tgid, struct ispan_context *context)
{
	u64 number = sole_request(pid_tgid);
	struct ispan_request *request;

	if (!thread || !context || !number || thread->mixed == number || may_do_other_work(thread))
		return false;
	request = bpf_map_lookup_elem(&requests, &number);
	if (!request || is_answered(request))
		return false;
	context->owner = number;
	context->source = ISPAN_SOURCE_HTTP;
	return true;
}

/*
 * Returns whether the thread is an event loop that has no request of its own. A thread that reports by CKP which request it serves,
 * or that it serves none, does not count as an event loop.
 */
static __always_inline bool is_loop(const struct ispan_thread *thread)
{
	return !thread->request && thread->flags & ISPAN_THREAD_LOOP && thread->source != ISPAN_SOURCE_CKP;
}

static __always_inline bool request_context(struct ispan_thread *thread, u32 tgid, u32 tid, struct ispan_context *context)
{
	if (bound_context(thread, tgid, context))
		return true;
	return is_loop(thread) && loop_context(thread, (u64)tgid << 32 | tid, context);
}

/* Map values are aligned, so the ids can be read as words. */
static __always_inline u64 word_of(const u8 *bytes)
{
	return *(const u64 *)bytes;
}

static __always_inline bool otel_context(struct ispan_thread *thread, u32 tgid, u32 tid, struct ispan_context *context)
{
	u64 pid_tgid = (u64)tgid << 32 | tid;
	struct ispan_otel_context *otel = bpf_map_lookup_elem(&otel_contexts, &pid_tgid);

	if (!otel)
		return false;
	context->owner = ispan_span_owner(word_of(otel->trace_id), word_of(otel->trace_id + 8), word_of(otel->span_id));
	context->source = ISPAN_SOURCE_OTEL;
	if (!is_announced(thread, context->owner))
		announce_span(thread, otel, context->owner, pid_tgid, ISPAN_SOURCE_OTEL);
	return true;
}

/*
 * Returns the owner that adopted a process, or 0. If that owner has ended, removes the entry. Not static, so that the verifier
 * checks it once.
 */
__noinline u64 adopted_by(u32 tgid)
{
	struct ispan_activity *activity = activity_now();
	u64 *entry, number;

	if (!activity || !activity->processes)
		return 0;
	entry = bpf_map_lookup_elem(&adopted, &tgid);
	if (!entry)
		return 0;
	number = *entry;
	if (bpf_map_lookup_elem(&requests, &number))
		return number;
	bpf_map_delete_elem(&adopted, &tgid);
	return 0;
}

/* An adopted process owns the calls without another owner, except those of a thread that reports its request by CKP. */
static __always_inline bool process_context(const struct ispan_thread *thread, u32 tgid, struct ispan_context *context)
{
	if (thread && thread->source == ISPAN_SOURCE_CKP)
		return false;
	context->owner = adopted_by(tgid);
	context->source = ISPAN_SOURCE_PROCESS;
	return context->owner;
}

/* Fills in the thread's context and returns true; if it returns false, nothing may be emitted. thread may be NULL. */
static __always_inline bool context_of(const struct ispan_settings *settings, struct ispan_thread *thread, u32 tgid,
				       u32 tid, struct ispan_context *context)
{
	if (tgid == settings->self_tgid)
		return own_context(thread, tgid, tid, context);
	if (thread && request_context(thread, tgid, tid, context))
		return true;
	if (settings->flags & ISPAN_READ_OTEL && !(thread && thread->flags & ISPAN_THREAD_WAITING) &&
	    otel_context(thread, tgid, tid, context))
		return true;
	return process_context(thread, tgid, context);
}

/* context_of with the current settings. Not static, so that the verifier checks it once. */
__noinline int context_of_thread(struct ispan_thread *thread, u64 pid_tgid, struct ispan_context *context)
{
	const struct ispan_settings *settings = current_settings();

	return settings && context && context_of(settings, thread, pid_tgid >> 32, (u32)pid_tgid, context);
}

/*
 * Returns whether a thread may have a context when an event begins, so that the beginning must be remembered. This check is cheap,
 * but returns true even if the thread's request has ended. context_of makes the exact check at the end of the event. The reader's own
 * threads have no number of a request.
 */
static __always_inline bool may_have_context(struct ispan_thread *thread, struct task_struct *task)
{
	struct ispan_context context;

	if (thread && thread->request && !(thread->flags & (ISPAN_THREAD_LEFT | ISPAN_THREAD_ALONE)))
		return !(thread->flags & ISPAN_THREAD_WAITING);
	return context_of_thread(thread, (u64)task->tgid << 32 | (u32)task->pid, &context);
}

/*
 * Counts an operation that is not attributed, because its thread may work for several requests or have other work. Not static, so
 * that the verifier checks it once.
 */
__noinline int count_unattributed(const struct ispan_thread *thread, u64 tgid)
{
	struct ispan_server *server;

	if (!thread || (!is_loop(thread) && !(thread->flags & ISPAN_THREAD_ALONE)))
		return 0;
	server = server_of(tgid);
	if (!server || !server->open)
		return 0;
	__sync_fetch_and_add(&server->unattributed, 1);
	count(ISPAN_COUNT_UNATTRIBUTED);
	return 0;
}

static __always_inline void record_fill(struct ispan_record *record, const struct ispan_context *context, u64 pid_tgid,
					u16 kind)
{
	record->owner = context->owner;
	record->tgid = pid_tgid >> 32;
	record->tid = (u32)pid_tgid;
	record->kind = kind;
	record->source = context->source;
}

#endif
