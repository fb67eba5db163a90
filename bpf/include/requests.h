/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Begins and ends requests, and announces both to the reader. A thread stores only the number of its request. When the
 * request is removed from the map, the number becomes invalid on all threads.
 */
#ifndef INFERSPAN_REQUESTS_H
#define INFERSPAN_REQUESTS_H

#include "context.h"
#include "otel.h"
#include "files.h"

#define NUMBER_CPU 1023ull
#define NUMBER_TRIES 3

static __always_inline u64 connection_of(u32 tgid, s32 fd)
{
	return (u64)tgid << 32 | (u32)fd;
}

static __always_inline s32 owner_kind_of(const struct ispan_request *request)
{
	if (request->flags & ISPAN_REQUEST_STEP)
		return ISPAN_OWNER_STEP;
	return request->flags & ISPAN_REQUEST_PROCESS ? ISPAN_OWNER_PROCESS : ISPAN_OWNER_REQUEST;
}

/*
 * Fills the record of an owner, that is, of a request, an engine's step or a process, directly in the ring: the callers have no stack
 * left for a copy.
 */
static __always_inline void fill_owner(struct ispan_owner_record *owner, const struct ispan_request *request, u64 number, u16 kind,
				       u8 source, u64 detail)
{
	struct ispan_record *record = &owner->record;

	record->start_ns = request->began_ns;
	record->end_ns = bpf_ktime_get_ns();
	record->owner = number;
	record->tgid = request->tgid;
	record->tid = request->tid;
	record->kind = kind;
	record->source = source;
	record->flags = 0;
	record->result = owner_kind_of(request);
	record->amount = kind == ISPAN_KIND_OWNER_ENDED ? request->unattributed : 0;
	record->detail = detail;
	record->extra = 0;
	fill_ids(owner, request->trace_id, request->span_id);
}

/*
 * Announces the begin or the end of a request. The begin is announced before any thread can learn the request's number, and thus
 * before all records with the number. The record of the end repeats the ids, because that of the begin may be lost.
 */
static __always_inline void announce(const struct ispan_settings *settings, const struct ispan_request *request,
				     u64 number, u16 kind, u8 source, u64 detail)
{
	struct ispan_owner_record *owner;
	u64 produced;

	owner = reserve_bytes(sizeof(*owner), kind, &produced);
	if (!owner)
		return;
	fill_owner(owner, request, number, kind, source, detail);
	bpf_ringbuf_submit(owner, wakeup_flags(settings, produced));
}

/* Counts a request before any map refers to it; uncount_request is called after the last reference is gone. */
static __always_inline void count_request(u64 now)
{
	struct ispan_activity *activity = activity_now();

	if (!activity)
		return;
	if (!activity->requests)
		activity->since_ns = now;
	__sync_fetch_and_add(&activity->requests, 1);
}

static __always_inline void uncount_request(void)
{
	struct ispan_activity *activity = activity_now();
	u64 ended;

	if (!activity)
		return;
	/*
	 * An addition whose result is used is a barrier: a program that sees the new value of `ended` does not find the request in
	 * the map.
	 */
	ended = __sync_fetch_and_add(&activity->ended, 1);
	barrier_var(ended);
	__sync_fetch_and_add(&activity->requests, -1);
}

/*
 * Inserts a request and returns its number, or 0 if the map is full. A number is the time with the CPU in its last bits, which
 * is unique without a shared counter. A second request in the same microsecond on this CPU gets the next number.
 */
static __always_inline u64 insert_request(const struct ispan_request *request)
{
	u64 number = (request->began_ns & ~NUMBER_CPU) | (bpf_get_smp_processor_id() & NUMBER_CPU);

	for (int i = 0; i < NUMBER_TRIES; i++, number += NUMBER_CPU + 1)
		if (!bpf_map_update_elem(&requests, &number, request, BPF_NOEXIST))
			return number;
	return 0;
}

/* Inserts and counts a request; returns its number, or 0 if the map is full. */
static __always_inline u64 request_enter(struct ispan_request *request)
{
	u64 number;

	request->began_ns = bpf_ktime_get_ns();
	count_request(request->began_ns);
	number = insert_request(request);
	if (!number) {
		uncount_request();
		count(ISPAN_COUNT_NO_MEMORY);
		return 0;
	}
	count(ISPAN_COUNT_REQUESTS_BEGAN);
	return number;
}

/*
 * Begins a request that the current thread read. The caller has filled in the ids, and announces the request. Returns its
 * number, or 0.
 */
static __always_inline u64 request_begin(struct ispan_request *request)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_server *server = server_of(pid_tgid >> 32);

	request->tgid = pid_tgid >> 32;
	request->tid = (u32)pid_tgid;
	request->unattributed = server ? server->unattributed : 0;
	return request_enter(request);
}

/* Makes the request the thread's context, until the request ends. */
static __always_inline void bind(const struct ispan_settings *settings, struct ispan_thread *thread,
				 const struct ispan_request *request, u64 number, u8 source)
{
	thread->request = number;
	thread->source = source;
	thread->fd = request->fd;
	thread->flags &= ~(ISPAN_THREAD_AWAY | ISPAN_THREAD_ALONE);
	otel_publish(settings, request);
}

static __always_inline void one_process_less(void)
{
	struct ispan_activity *activity = activity_now();

	if (activity)
		__sync_fetch_and_add(&activity->processes, -1);
}

static __always_inline u64 why_unattributed(const struct ispan_request *request, const struct ispan_server *server)
{
	u64 why = request->flags & ISPAN_REQUEST_MIXED ? ISPAN_SHARED_MIXED : 0;

	if (server->flags & SERVER_HANDS_OVER)
		why |= ISPAN_SHARED_THREADS;
	if (!(request->flags & ISPAN_REQUEST_BOUND) && server->shared_ns >= request->began_ns)
		why |= ISPAN_SHARED_LOOP;
	return why;
}

static __always_inline void forget_answered(u64 key, u64 number)
{
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);

	struct ispan_activity *activity = activity_now();

	if (connection && connection->number == number && connection->flags & OPEN_ANSWERED && !connection->body &&
	    !bpf_map_delete_elem(&connections, &key) && activity)
		__sync_fetch_and_add(&activity->heads, -1);
}

/* Ends a request; has no effect if it has already ended. Not static, so that the verifier checks it once. */
__noinline int request_end(u64 number)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_request *live = bpf_map_lookup_elem(&requests, &number);
	struct ispan_request request;
	struct ispan_server *server;
	u64 why = 0;

	if (!live || !settings)
		return 0;
	request = *live;
	/* Two threads may end it at once: only the one that deletes the entry announces the end. */
	if (bpf_map_delete_elem(&requests, &number))
		return 0;
	uncount_request();
	if (request.flags & ISPAN_REQUEST_PROCESS)
		one_process_less();
	else
		forget_answered(connection_of(request.tgid, request.fd), number);
	count(ISPAN_COUNT_REQUESTS_ENDED);
	server = request.fd >= 0 ? server_of(request.tgid) : NULL;
	if (server)
		why = why_unattributed(&request, server);
	if (!(request.flags & ISPAN_REQUEST_STEP))
		request.unattributed = why ? server->unattributed - request.unattributed : 0;
	announce(settings, &request, number, ISPAN_KIND_OWNER_ENDED, ISPAN_SOURCE_NONE, why << 32 | (u32)request.fd);
	otel_withdraw(settings, &request);
	return 0;
}

/* Assigns the process to an owner; returns false if the owner has ended, or the map is full. */
static __always_inline bool process_joins(u32 tgid, u64 number)
{
	struct ispan_request *owner = bpf_map_lookup_elem(&requests, &number);

	if (!owner || bpf_map_update_elem(&adopted, &tgid, &number, BPF_ANY))
		return false;
	__sync_fetch_and_add(&owner->unattributed, 1);
	return true;
}

/* Called when an adopted process ends or is released. The owner ends with its last process. */
static __always_inline void process_leaves(u32 tgid)
{
	u64 number = adopted_by(tgid);
	struct ispan_request *owner = number ? bpf_map_lookup_elem(&requests, &number) : NULL;

	/* Two threads may find the same entry; only one deletes it. */
	if (!owner || bpf_map_delete_elem(&adopted, &tgid))
		return;
	__sync_fetch_and_add(&owner->unattributed, -1);
	if (!owner->unattributed)
		request_end(number);
}

/* Returns the thread's request, or NULL. Clears the number if the request has ended. */
static __always_inline struct ispan_request *request_of(struct ispan_thread *thread)
{
	u64 number = thread->request;
	struct ispan_request *request;

	if (!number)
		return NULL;
	request = bpf_map_lookup_elem(&requests, &number);
	if (!request)
		thread->request = 0;
	return request;
}

#endif
