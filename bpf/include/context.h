/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom a thread serves: its own published context, its request, the only open one of its process, or the contract map. */
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
 * The time since which at least one request has been open without a pause; 0: none is, and the thread needs no look. Events that
 * began before that time are ignored: their ends were not looked at. The reader's own threads and those of the contract
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

static __always_inline struct ispan_server *server_of(u32 tgid)
{
	return bpf_map_lookup_elem(&servers, &tgid);
}

/* Begun, and nothing says that more of it will come. */
static __always_inline bool is_answered(const struct ispan_request *request)
{
	return (request->flags & (ISPAN_REQUEST_RESPONDED | ISPAN_REQUEST_STREAMS)) == ISPAN_REQUEST_RESPONDED;
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

static __always_inline void fill_ids(struct ispan_owner_record *record, const u8 *trace_id, const u8 *span_id)
{
	__builtin_memcpy(record->trace_id, trace_id, sizeof(record->trace_id));
	__builtin_memcpy(record->span_id, span_id, sizeof(record->span_id));
}

/*
 * Says which span a number stands for, before the first record of this thread has it. Where the ring is full, the reader looks
 * where the number comes from. Not static, so that the verifier reads it once.
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
	announced = room_of(sizeof(*announced), ISPAN_KIND_OWNER_BEGAN, &produced);
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

/* What lies between two looks at the number is not torn: only its own thread writes it, and that one does not run meanwhile. */
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

/* A client that goes away does not stop what works for it; and nothing tells when that ends. */
static __always_inline bool works_for_the_gone(const struct ispan_server *server)
{
	return server->abandoned_ns && bpf_ktime_get_ns() - server->abandoned_ns < ABANDONED_NANOS;
}

/* Whether a loop may do what its timers want, which is no request's, or not that of the one that is open. */
static __always_inline bool is_timer_due(const struct ispan_thread *thread)
{
	return thread->timer_ns && bpf_ktime_get_ns() >= thread->timer_ns;
}

/* Whether no request of the process is open but this one. Not static, so that the verifier reads it once. */
__noinline int is_alone(const struct ispan_thread *thread, u64 tgid, u64 number)
{
	struct ispan_server *server = server_of(tgid);

	if (!server || !thread)
		return true;
	return (!server->open || (server->open == 1 && server->sole_number == number)) && !works_for_the_gone(server) &&
	       !is_timer_due(thread);
}

/* In a process that answers with other threads than it reads with, a thread says nothing about a request. */
static __always_inline bool is_taken_away(const struct ispan_thread *thread, const struct ispan_request *request)
{
	struct ispan_server *server;

	if (thread->source != ISPAN_SOURCE_HTTP)
		return false;
	server = server_of(request->tgid);
	return server && server->flags & SERVER_HANDS_OVER;
}

/* Asks the map, and keeps what it says. */
static __always_inline bool learn_request(struct ispan_thread *thread, struct ispan_activity *activity, u64 number)
{
	/* Read before the map is asked, and as a barrier: an end between the two must show the next time. */
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

/* As long as no request of the machine has ended since the thread's was seen alive, it is: the map is not asked for each event. */
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
 * Of a thread that may have several requests: the only one that its process has open, if this thread read it and nothing shows that
 * another answers it. Not static, so that the verifier reads it once.
 */
__noinline u64 sole_request(u64 pid_tgid)
{
	struct ispan_server *server = server_of(pid_tgid >> 32);
	struct ispan_connection *connection;
	u64 key, number;

	if (!server || server->open != 1 || server->flags & SERVER_HANDS_OVER || works_for_the_gone(server))
		return 0;
	key = server->sole;
	number = server->sole_number;
	connection = bpf_map_lookup_elem(&connections, &key);
	if (!connection || connection->number != number || connection->reader != pid_tgid ||
	    (connection->flags & (OPEN_SAMPLED | OPEN_HELPED)) != OPEN_SAMPLED)
		return 0;
	return number;
}

/* Not static, so that the verifier reads it once. */
__noinline int loop_context(const struct ispan_thread *thread, u64 pid_tgid, struct ispan_context *context)
{
	u64 number = sole_request(pid_tgid);
	struct ispan_request *request;

	if (!thread || !context || !number || thread->mixed == number || is_timer_due(thread))
		return false;
	request = bpf_map_lookup_elem(&requests, &number);
	if (!request || is_answered(request))
		return false;
	context->owner = number;
	context->source = ISPAN_SOURCE_HTTP;
	return true;
}

/* A thread that names its request by CKP may name none. */
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

/* Values of maps are aligned. */
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

/* Of a process whose owner has ended, the entry is forgotten when that shows. Not static, so that the verifier reads it once. */
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

/* The adopted process owns the calls that have no other owner; but not those of a thread that names its request, or none, by CKP. */
static __always_inline bool process_context(const struct ispan_thread *thread, u32 tgid, struct ispan_context *context)
{
	if (thread && thread->source == ISPAN_SOURCE_CKP)
		return false;
	context->owner = adopted_by(tgid);
	context->source = ISPAN_SOURCE_PROCESS;
	return context->owner;
}

/* Fills in the thread's context and says true, or says false: then nothing may be emitted. thread may be NULL. */
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

/* Not static, so that the verifier reads it once. */
__noinline int context_of_thread(struct ispan_thread *thread, u64 pid_tgid, struct ispan_context *context)
{
	const struct ispan_settings *settings = current_settings();

	return settings && context && context_of(settings, thread, pid_tgid >> 32, (u32)pid_tgid, context);
}

/*
 * Whether it is worth remembering that something begins. Cheaper than context_of, which must be asked at the end: a
 * number may be that of a request that has ended, and is forgotten when that shows. The reader's own threads never
 * carry a number.
 */
static __always_inline bool may_have_context(struct ispan_thread *thread, struct task_struct *task)
{
	struct ispan_context context;

	if (thread && thread->request && !(thread->flags & (ISPAN_THREAD_LEFT | ISPAN_THREAD_ALONE)))
		return !(thread->flags & ISPAN_THREAD_WAITING);
	return context_of_thread(thread, (u64)task->tgid << 32 | (u32)task->pid, &context);
}

/*
 * What a thread does that has several requests, or one among other work, is not attributed; but it is counted. Not static, so that
 * the verifier reads it once.
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
