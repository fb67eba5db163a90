/* SPDX-License-Identifier: GPL-2.0-only */
/* Beginning and ending a request. Threads carry its number only, so ending it ends it for all of them at once. */
#ifndef INFERSPAN_REQUESTS_H
#define INFERSPAN_REQUESTS_H

#include "context.h"
#include "contract.h"
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

/* Written where it is read from, so that no stack has to hold it: those who announce are called deep down. */
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

/* Before anybody can learn the number, and so before every record that has it. Its end says again who it was: the first may be lost. */
static __always_inline void announce(const struct ispan_settings *settings, const struct ispan_request *request,
				     u64 number, u16 kind, u8 source, u64 detail)
{
	struct ispan_owner_record *owner;
	u64 produced;

	owner = room_of(sizeof(*owner), kind, &produced);
	if (!owner)
		return;
	fill_owner(owner, request, number, kind, source, detail);
	bpf_ringbuf_submit(owner, wakeup_flags(settings, produced));
}

/* Before anything else of the request is there to be seen, and after the last of it. */
static __always_inline void one_more(u64 now)
{
	struct ispan_activity *activity = activity_now();

	if (!activity)
		return;
	if (!activity->requests)
		activity->since_ns = now;
	__sync_fetch_and_add(&activity->requests, 1);
}

static __always_inline void one_less(void)
{
	struct ispan_activity *activity = activity_now();
	u64 ended;

	if (!activity)
		return;
	/* Asked for the value, the addition is a barrier: who sees it finds the map without the request. */
	ended = __sync_fetch_and_add(&activity->ended, 1);
	barrier_var(ended);
	__sync_fetch_and_add(&activity->requests, -1);
}

/*
 * A number is the time, with the CPU in its last bits: unique without a shared counter, whatever the uptime. A second
 * request of the same microsecond takes the next. 0: there is no room.
 */
static __always_inline u64 enter_request(const struct ispan_request *request)
{
	u64 number = (request->began_ns & ~NUMBER_CPU) | (bpf_get_smp_processor_id() & NUMBER_CPU);

	for (int i = 0; i < NUMBER_TRIES; i++, number += NUMBER_CPU + 1)
		if (!bpf_map_update_elem(&requests, &number, request, BPF_NOEXIST))
			return number;
	return 0;
}

/* Its number, or 0 where there is no room. */
static __always_inline u64 request_enter(struct ispan_request *request)
{
	u64 number;

	request->began_ns = bpf_ktime_get_ns();
	one_more(request->began_ns);
	number = enter_request(request);
	if (!number) {
		one_less();
		count(ISPAN_COUNT_NO_MEMORY);
		return 0;
	}
	count(ISPAN_COUNT_REQUESTS_BEGAN);
	return number;
}

/* The request's ids are filled in by the caller, who announces it; the current thread read it. Its number, or 0. */
static __always_inline u64 request_begin(struct ispan_request *request)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_server *server = server_of(pid_tgid >> 32);

	request->tgid = pid_tgid >> 32;
	request->tid = (u32)pid_tgid;
	request->unattributed = server ? server->unattributed : 0;
	return request_enter(request);
}

/* The thread works for the request until that ends. */
static __always_inline void bind(const struct ispan_settings *settings, struct ispan_thread *thread,
				 const struct ispan_request *request, u64 number, u8 source)
{
	thread->request = number;
	thread->source = source;
	thread->fd = request->fd;
	thread->flags &= ~(ISPAN_THREAD_AWAY | ISPAN_THREAD_ALONE);
	contract_publish(settings, request);
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

	if (connection && connection->number == number && connection->flags & OPEN_ANSWERED &&
	    !bpf_map_delete_elem(&connections, &key) && activity)
		__sync_fetch_and_add(&activity->heads, -1);
}

/* Harmless for a number that has ended. Not static, so that the verifier reads it once. */
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
	/* Two threads may end it at the same moment: only one of them deletes it, and that one announces it. */
	if (bpf_map_delete_elem(&requests, &number))
		return 0;
	one_less();
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
	contract_withdraw(settings, &request);
	return 0;
}

/* The process belongs to this owner from now on; false where that has ended, or there is no room. */
static __always_inline bool process_joins(u32 tgid, u64 number)
{
	struct ispan_request *owner = bpf_map_lookup_elem(&requests, &number);

	if (!owner || bpf_map_update_elem(&adopted, &tgid, &number, BPF_ANY))
		return false;
	__sync_fetch_and_add(&owner->unattributed, 1);
	return true;
}

/* It ends, or is let go. The owner ends with the last that belongs to it. */
static __always_inline void process_leaves(u32 tgid)
{
	u64 number = adopted_by(tgid);
	struct ispan_request *owner = number ? bpf_map_lookup_elem(&requests, &number) : NULL;

	/* Two may find the same entry: one deletes it. */
	if (!owner || bpf_map_delete_elem(&adopted, &tgid))
		return;
	__sync_fetch_and_add(&owner->unattributed, -1);
	if (!owner->unattributed)
		request_end(number);
}

/* The request a thread carries, or NULL; a number whose request has ended is forgotten. */
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
