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

static __always_inline void announce(const struct ispan_settings *settings, const struct ispan_request *request,
				     u64 number, u16 kind, u8 source)
{
	struct ispan_record record = {.start_ns = request->began_ns, .end_ns = bpf_ktime_get_ns(), .extra = number};

	if (!(settings->flags & ISPAN_EMIT_REQUESTS))
		return;
	__builtin_memcpy(record.trace_id, request->trace_id, sizeof(record.trace_id));
	__builtin_memcpy(record.span_id, request->span_id, sizeof(record.span_id));
	record.tgid = request->tgid;
	record.tid = request->tid;
	record.kind = kind;
	record.source = source;
	record.detail = (u32)request->fd;
	emit(settings, &record);
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

/* Not static, so that the verifier reads it once. */
__noinline int note_connection(u64 key, u64 number)
{
	struct ispan_connection connection = {.request = number};

	connection.socket = socket_number(file_of(bpf_get_current_task_btf(), (s32)key));
	return bpf_map_update_elem(&connections, &key, &connection, BPF_ANY);
}

/* The request's ids are filled in by the caller; its thread is the current one. */
static __always_inline void request_begin(const struct ispan_settings *settings, struct ispan_thread *thread,
					  struct ispan_request *request, u8 source)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u64 number;

	request->began_ns = bpf_ktime_get_ns();
	request->tgid = pid_tgid >> 32;
	request->tid = (u32)pid_tgid;
	one_more(request->began_ns);
	number = enter_request(request);
	if (!number) {
		one_less();
		count(ISPAN_COUNT_NO_MEMORY);
		return;
	}
	if (request->fd >= 0) {
		note_connection(connection_of(request->tgid, request->fd), number);
	}
	thread->request = number;
	thread->source = source;
	thread->fd = request->fd;
	thread->flags &= ~ISPAN_THREAD_AWAY;
	count(ISPAN_COUNT_REQUESTS_BEGAN);
	announce(settings, request, number, ISPAN_KIND_REQUEST_BEGAN, source);
	contract_publish(settings, request);
}

/* Harmless for a number that has ended. */
static __noinline int request_end(const struct ispan_settings *settings, u64 number)
{
	struct ispan_request *live = bpf_map_lookup_elem(&requests, &number);
	struct ispan_request request;

	if (!live)
		return 0;
	request = *live;
	/* Two threads may end it at the same moment: only one of them deletes it, and that one announces it. */
	if (bpf_map_delete_elem(&requests, &number))
		return 0;
	one_less();
	count(ISPAN_COUNT_REQUESTS_ENDED);
	announce(settings, &request, number, ISPAN_KIND_REQUEST_ENDED, ISPAN_SOURCE_NONE);
	contract_withdraw(settings, &request);
	return 0;
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
