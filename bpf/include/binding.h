/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binds a request to the thread that read it from a connection, and unbinds it. All work of a bound thread belongs to its request.
 * The head of a request is its request line and headers.
 */
#ifndef INFERSPAN_BINDING_H
#define INFERSPAN_BINDING_H

#include "connections.h"
#include "heads.h"

/*
 * Returns whether bytes of the next request follow this one in the same read. No later read returns these bytes. behind is the
 * number of bytes after the headers.
 */
static __always_inline bool is_pipelined(const struct ispan_scan *scan, u64 behind)
{
	return !(scan->head.flags & HEAD_CHUNKED) && behind > scan->head.content_length;
}

/*
 * Ends the previous request of the connection. Returns whether its response is incomplete, so that the next bytes written to the
 * connection may belong to that response.
 */
static __always_inline bool close_before(u64 key)
{
	struct ispan_connection *before = bpf_map_lookup_elem(&connections, &key);
	bool pending;

	if (!before)
		return false;
	pending = !(before->flags & OPEN_UNFINISHED) && is_same_socket(before, (s32)key) &&
		  (!(before->flags & OPEN_RESPONDED) || before->flags & OPEN_PIPELINED ||
		   (before->flags & OPEN_COUNTED && before->left));
	connection_ends(key);
	return pending;
}

/* Returns whether a request that this thread read on another connection than this one is still open. */
static __always_inline bool has_another(const struct ispan_thread *thread, u64 key)
{
	u64 last = thread->last;
	struct ispan_connection *connection = last && last != key ? bpf_map_lookup_elem(&connections, &last) : NULL;

	return connection && connection->number == thread->last_number && !(connection->flags & OPEN_ANSWERED);
}

/* Unbinds the thread's request. If the request has its response, it ends; otherwise it continues without the thread. */
static __always_inline void unbind(const struct ispan_settings *settings, struct ispan_thread *thread)
{
	struct ispan_request *request = request_of(thread);

	if (request && thread->source != ISPAN_SOURCE_INHERITED) {
		request->flags &= ~ISPAN_REQUEST_BOUND;
		if (is_answered(request))
			request_end(thread->request);
		else
			otel_withdraw(settings, request);
	}
	thread->request = 0;
	thread->flags &= ~(ISPAN_THREAD_AWAY | ISPAN_THREAD_ALONE);
}

/*
 * Returns whether the thread that has read a request can be bound to it: its reads block, it has no other request, and threads of
 * its process answer the requests that they read. Otherwise, the thread is treated as an event loop, which has the request only
 * while its process has no other open request. Not static, so that the verifier checks it once.
 */
__noinline int may_bind(const struct ispan_server *server, u64 key, u64 waits)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_made_of(bpf_get_current_task_btf());
	bool another;

	if (!settings || !thread || !server || thread->source == ISPAN_SOURCE_CKP)
		return false; /* the thread reports by CKP which request it serves, if any */
	unbind(settings, thread);
	another = has_another(thread, key);
	if (another)
		count(ISPAN_COUNT_THREADS_INTERLEAVED);
	if (another || !waits || server->flags & SERVER_HANDS_OVER || (thread->flags & ISPAN_THREAD_LOOP && server->open))
		thread->flags |= ISPAN_THREAD_LOOP;
	else
		thread->flags &= ~ISPAN_THREAD_LOOP;
	thread->source = ISPAN_SOURCE_NONE;
	return !(thread->flags & ISPAN_THREAD_LOOP);
}

static __always_inline bool is_limited(const struct ispan_settings *settings, struct ispan_server *server)
{
	u64 second = bpf_ktime_get_ns() / 1000000000;

	if (!settings->most_requests)
		return false;
	if (server->second != second) {
		server->second = second;
		server->begun = 0;
	}
	return ++server->begun > settings->most_requests;
}

/* Announces the request, with its x-request-id if it has one. Not static, so that the verifier checks it once. */
__noinline int announce_head(u64 number, u64 source)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_scan *scan = current_scan();
	struct ispan_head_record *head;
	u64 produced;

	if (!settings || !scan)
		return 0;
	if ((scan->head.flags & (HEAD_REQUEST_ID | HEAD_ODD_ID)) != HEAD_REQUEST_ID) {
		announce(settings, &scan->request, number, ISPAN_KIND_OWNER_BEGAN, source, (u32)scan->request.fd);
		return 0;
	}
	head = reserve_bytes(sizeof(*head), ISPAN_KIND_OWNER_BEGAN, &produced);
	if (!head)
		return 0;
	fill_owner(&head->owner, &scan->request, number, ISPAN_KIND_OWNER_BEGAN, source, (u32)scan->request.fd);
	__builtin_memcpy(head->request_id, scan->head.request_id, sizeof(head->request_id));
	bpf_ringbuf_submit(head, wakeup_flags(settings, produced));
	return 0;
}

/* Begins a request. Returns its number, or 0 if the map of requests is full. */
static __always_inline u64 begin(const struct ispan_settings *settings, struct ispan_scan *scan, s32 fd, bool binds)
{
	struct ispan_request *request = &scan->request;
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	u64 number;

	request->fd = fd;
	request->flags = binds ? ISPAN_REQUEST_BOUND : 0;
	__builtin_memcpy(request->trace_id, scan->head.trace_id, sizeof(request->trace_id));
	__builtin_memcpy(request->span_id, scan->head.span_id, sizeof(request->span_id));
	number = request_begin(request);
	if (number)
		announce_head(number, binds ? ISPAN_SOURCE_HTTP : ISPAN_SOURCE_CONNECTION);
	if (number && binds && thread)
		bind(settings, thread, request, number, ISPAN_SOURCE_HTTP);
	return number;
}

static __always_inline void remember_last(u64 key, u64 number)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());

	if (!thread || thread->source == ISPAN_SOURCE_CKP)
		return;
	thread->last = key;
	thread->last_number = number;
}

static __always_inline void count_head(const struct ispan_scan *scan)
{
	count(ISPAN_COUNT_HTTP_HEADS);
	if (scan->head.flags & HEAD_IGNORED)
		count(ISPAN_COUNT_HTTP_MALFORMED);
	else if (scan->head.flags & HEAD_TRACEPARENT)
		count(ISPAN_COUNT_HTTP_FOUND);
}

/* Returns whether the request is traced. */
static __always_inline bool is_sampled(const struct ispan_settings *settings, struct ispan_server *server,
				       const struct ispan_scan *scan)
{
	u32 wanted = HEAD_TRACEPARENT | HEAD_SAMPLED;

	if ((scan->head.flags & (wanted | HEAD_IGNORED)) != wanted)
		return false;
	count(ISPAN_COUNT_HTTP_SAMPLED);
	if (scan->head.flags & HEAD_ODD_ID)
		count(ISPAN_COUNT_REQUEST_ID_LEFT_OUT);
	if (!is_limited(settings, server))
		return true;
	count(ISPAN_COUNT_HTTP_LIMITED);
	return false;
}

/*
 * Called when a head is complete: counts the request as open and, if it is sampled, begins it. If is_known is 0, the head
 * could not be parsed. Not static, so that the verifier checks it once.
 */
__noinline int head_finished(u64 key, u64 pipelined, u64 waits, u64 body, u64 is_known)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_server *server = server_made_of(key >> 32);
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_scan *scan = current_scan();
	bool reports_itself = thread && thread->source == ISPAN_SOURCE_CKP;
	u64 number = 0, flags = 0;
	bool binds;

	if (!settings || !server || !scan)
		return 0;
	pipelined |= close_before(key);
	binds = may_bind(server, key, waits);
	if (is_known) {
		count_head(scan);
		flags = scan->head.flags & HEAD_NO_BODY ? OPEN_NO_BODY : 0;
		if (is_sampled(settings, server, scan) && !pipelined && !reports_itself)
			number = begin(settings, scan, (s32)key, binds);
	}
	if (pipelined) {
		count(ISPAN_COUNT_HTTP_PIPELINED);
		flags |= OPEN_PIPELINED;
	}
	if (number)
		flags |= OPEN_SAMPLED;
	else
		number = bpf_ktime_get_ns();
	remember_last(key, number);
	return connection_open(server, key, number, flags, body);
}

/*
 * Called when a head is incomplete: keeps its state. Until it is complete, no thread works for the request. Not static, so that the
 * verifier checks it once.
 */
__noinline int head_unfinished(u64 key)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_scan *scan = current_scan();
	struct ispan_server *server = server_made_of(key >> 32);
	u64 place = place_of((u32)key);

	if (!settings || !scan || !server)
		return 0;
	if (close_before(key))
		scan->head.flags |= HEAD_PIPELINED;
	keep_tail(scan);
	scan->head.place.socket = (u32)place;
	scan->head.place.taken = place >> 32;
	bpf_map_update_elem(&heads, &key, &scan->head, BPF_ANY);
	return connection_open(server, key, 0, OPEN_UNFINISHED | OPEN_ANSWERED, 0);
}

static __always_inline void forget_head(u64 key)
{
	bpf_map_delete_elem(&heads, &key);
	connection_close(key);
}

/*
 * Returns the incomplete head that these bytes continue, or NULL. With blocking reads, only the thread that read its beginning can
 * continue it; otherwise, any thread of the process can.
 */
static __always_inline struct ispan_head *unfinished_head(struct task_struct *task, u64 key, const struct ispan_bytes *bytes)
{
	struct ispan_connection *connection = any_open() ? bpf_map_lookup_elem(&connections, &key) : NULL;

	if (!connection || !(connection->flags & OPEN_UNFINISHED))
		return NULL;
	if (!continues_head(key, bytes->buffer, bytes->length) ||
	    (connection->reader != bpf_get_current_pid_tgid() && does_read_block(task, (s32)key)))
		forget_head(key);
	return bpf_map_lookup_elem(&heads, &key);
}

/* Handles bytes that begin a request, or continue an incomplete head. */
static __always_inline void read_head(const struct ispan_bytes *bytes, u64 connection, struct ispan_head *unfinished, bool waits)
{
	u64 before = HTTP_BASE + (unfinished ? unfinished->tail_length : 0);
	struct ispan_scan *scan = scan_head(bytes, unfinished);
	u32 flags = scan ? scan->head.flags : 0;
	u64 behind, body;
	bool pipelined;

	if (unfinished)
		count(ISPAN_COUNT_HTTP_CONTINUED);
	if (scan && !(flags & (HEAD_FINISHED | HEAD_NOT_HTTP)) && bytes->length < HTTP_WINDOW &&
	    scan->length == before + bytes->length) {
		head_unfinished(connection);
		return;
	}
	if (unfinished)
		forget_head(connection);
	if (flags & HEAD_NOT_HTTP)
		return;
	if (!(flags & HEAD_FINISHED)) { /* the request counts as open, but its ids are unknown */
		if (scan)
			count(ISPAN_COUNT_HTTP_TOO_LONG);
		head_finished(connection, false, waits, 0, false);
		return;
	}
	behind = before + bytes->length - scan->end;
	body = flags & HEAD_CHUNKED || behind > scan->head.content_length ? 0 : scan->head.content_length - behind;
	pipelined = flags & HEAD_PIPELINED || is_pipelined(scan, behind);
	head_finished(connection, pipelined, waits, body, true);
}

#endif
