/* SPDX-License-Identifier: GPL-2.0-only */
/* Which thread a request that came on a connection is given to, and when it is taken away. */
#ifndef INFERSPAN_BINDING_H
#define INFERSPAN_BINDING_H

#include "files.h"
#include "heads.h"
#include "requests.h"

/* A request that this thread read itself from a connection, and has not begun to answer. */
static __always_inline bool serves_unanswered(struct ispan_thread *thread, const struct ispan_request *request)
{
	return request && thread->source == ISPAN_SOURCE_HTTP && !(request->flags & ISPAN_REQUEST_RESPONDED);
}

/* More bytes came than the head and its body: the next request is already here, and no read will announce it. */
static __always_inline bool is_pipelined(const struct ispan_scan *scan, const struct ispan_bytes *bytes, u64 before)
{
	u64 behind = before + bytes->length - scan->end;

	return !(scan->head.flags & HEAD_CHUNKED) && behind > scan->head.content_length;
}

/*
 * Takes away what the thread and the connection had, and says whether the thread may have the new request. Not static, so that
 * the verifier reads it once; so it asks again for what its caller knows.
 */
__noinline int make_room(u64 connection)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *current = thread ? request_of(thread) : NULL;
	struct ispan_connection *last = bpf_map_lookup_elem(&connections, &connection);
	bool free = true;

	if (!settings)
		return false;
	if (thread && thread->source == ISPAN_SOURCE_CKP)
		return false; /* the thread says itself whom it serves, if only that it is nobody */
	if (current && serves_unanswered(thread, current)) {
		free = false;
		if (connection_of(current->tgid, current->fd) == connection) {
			count(ISPAN_COUNT_HTTP_PIPELINED);
		} else {
			thread->flags |= ISPAN_THREAD_INTERLEAVED;
			count(ISPAN_COUNT_THREADS_INTERLEAVED);
		}
	}
	if (last) {
		request_end(settings, last->request);
		bpf_map_delete_elem(&connections, &connection);
	}
	if (thread) {
		if (thread->source != ISPAN_SOURCE_INHERITED)
			request_end(settings, thread->request);
		thread->request = 0;
		thread->flags &= ~ISPAN_THREAD_AWAY;
		if (thread->flags & ISPAN_THREAD_INTERLEAVED)
			free = false;
	}
	return free;
}

static __always_inline void give(const struct ispan_settings *settings, struct task_struct *task,
				 const struct ispan_scan *scan, s32 fd)
{
	struct ispan_thread *thread = thread_made_of(task);
	struct ispan_request request = {.fd = fd};

	if (!thread)
		return;
	__builtin_memcpy(request.trace_id, scan->head.trace_id, sizeof(request.trace_id));
	__builtin_memcpy(request.span_id, scan->head.span_id, sizeof(request.span_id));
	request_begin(settings, thread, &request, ISPAN_SOURCE_HTTP);
}

static __always_inline void count_head(const struct ispan_scan *scan)
{
	count(ISPAN_COUNT_HTTP_HEADS);
	if (scan->head.flags & HEAD_IGNORED)
		count(ISPAN_COUNT_HTTP_MALFORMED);
	else if (scan->head.flags & HEAD_TRACEPARENT)
		count(ISPAN_COUNT_HTTP_FOUND);
}

static __always_inline void head_finished(const struct ispan_settings *settings, struct task_struct *task,
					  const struct ispan_scan *scan, u64 connection, bool pipelined)
{
	u32 wanted = HEAD_TRACEPARENT | HEAD_SAMPLED;
	bool free = make_room(connection);

	count_head(scan);
	if ((scan->head.flags & (wanted | HEAD_IGNORED)) != wanted)
		return;
	count(ISPAN_COUNT_HTTP_SAMPLED);
	if (pipelined)
		count(ISPAN_COUNT_HTTP_PIPELINED);
	else if (free)
		give(settings, task, scan, (s32)connection);
}

/* The head goes on in the next read of this thread on this connection. */
static __always_inline void head_unfinished(struct task_struct *task, struct ispan_scan *scan, u64 connection)
{
	struct ispan_thread *thread = thread_made_of(task);
	u64 place;

	if (!thread)
		return;
	keep_tail(scan);
	place = place_of((u32)connection);
	scan->head.place.socket = (u32)place;
	scan->head.place.taken = place >> 32;
	bpf_map_update_elem(&heads, &connection, &scan->head, BPF_ANY);
	thread->head_fd = (s32)connection + 1;
}

static __always_inline void forget_head(struct ispan_thread *thread, u64 connection)
{
	if (thread && thread->head_fd == (s32)connection + 1) {
		thread->head_fd = 0;
		bpf_map_delete_elem(&heads, &connection);
	}
}

/* What is known of the head that these bytes go on with. */
static __always_inline struct ispan_head *unfinished_head(struct ispan_thread *thread, u64 connection,
							  const struct ispan_bytes *bytes)
{
	if (!thread || thread->head_fd != (s32)connection + 1)
		return NULL;
	if (!goes_on(connection, bytes->buffer, bytes->length))
		forget_head(thread, connection);
	return bpf_map_lookup_elem(&heads, &connection);
}

/* Bytes that begin a request, or go on with one whose head is not finished. */
static __always_inline void read_head(const struct ispan_settings *settings, struct task_struct *task,
				      const struct ispan_bytes *bytes, u64 connection, struct ispan_head *unfinished)
{
	u64 before = HTTP_BASE + (unfinished ? unfinished->tail_length : 0);
	struct ispan_scan *scan = scan_head(bytes, unfinished);
	u32 flags;

	if (unfinished)
		count(ISPAN_COUNT_HTTP_CONTINUED);
	flags = scan ? scan->head.flags : 0;
	if (!scan) {
		make_room(connection);
	} else if (flags & HEAD_FINISHED) {
		forget_head(thread_of(task), connection);
		head_finished(settings, task, scan, connection, is_pipelined(scan, bytes, before));
		return;
	} else if (!(flags & HEAD_NOT_HTTP)) {
		if (bytes->length < HTTP_WINDOW && scan->length == before + bytes->length) {
			head_unfinished(task, scan, connection);
			return;
		}
		count(ISPAN_COUNT_HTTP_TOO_LONG);
		make_room(connection);
	}
	forget_head(thread_of(task), connection);
}

#endif
