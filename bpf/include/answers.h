/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Detects the end of a response, because the request ends with it. The end is the last byte according to Content-Length, the last
 * chunk, or the end of the headers if there is no body.
 *
 * An event loop is a thread that may serve several requests. A request is bound to a thread if all work of the thread belongs to the
 * request.
 */
#ifndef INFERSPAN_ANSWERS_H
#define INFERSPAN_ANSWERS_H

#include "connections.h"
#include "descriptors.h"
#include "heads.h"

#define LAST_CHUNK_BYTES 5 /* "0\r\n\r\n", alone or after the end of another line */
#define LONGEST_END (2 + LAST_CHUNK_BYTES)
#define STATUS_BYTES 12 /* "HTTP/1.1 200" */

enum { ANSWER_INTERIM, ANSWER_UNKNOWN, ANSWER_HAS_BODY, ANSWER_HAS_NONE, ANSWER_CHANGES };

/*
 * Classifies the first bytes of a response. Interim responses such as "100 Continue" precede the final one; 101 switches the
 * protocol.
 */
static __always_inline int kind_of_answer(const u8 *text)
{
	const char http[7] = "HTTP/1.";

	if (__builtin_memcmp(text, http, sizeof(http)))
		return ANSWER_UNKNOWN;
	if (text[9] == '1')
		return text[11] == '1' ? ANSWER_CHANGES : ANSWER_INTERIM;
	if ((text[9] == '2' || text[9] == '3') && text[10] == '0' && text[11] == '4')
		return ANSWER_HAS_NONE;
	return ANSWER_HAS_BODY;
}

/* Returns whether a chunked response ends with these bytes. */
static __always_inline bool ends_chunks(const struct ispan_bytes *bytes)
{
	const u8 last[LONGEST_END] = {'\r', '\n', '0', '\r', '\n', '\r', '\n'};
	u8 end[LONGEST_END] = {'\r', '\n'};
	u64 buffer = bytes->buffer, length = bytes->length;
	struct iovec segment;

	if (bytes->list) {
		if (bpf_probe_read_user(&segment, sizeof(segment), (void *)(bytes->list + (bytes->list_length - 1) * sizeof(segment))))
			return false;
		buffer = (u64)segment.iov_base;
		length = segment.iov_len;
	}
	if (length == LAST_CHUNK_BYTES)
		return !bpf_probe_read_user(end + 2, LAST_CHUNK_BYTES, (void *)buffer) && !__builtin_memcmp(end, last, LONGEST_END);
	return length >= LONGEST_END && !bpf_probe_read_user(end, LONGEST_END, (void *)(buffer + length - LONGEST_END)) &&
	       !__builtin_memcmp(end, last, LONGEST_END);
}

/*
 * Finds the bytes that a system call wrote to the connection. Returns false if they are not in the process's memory, or are in
 * several messages.
 */
static __always_inline bool bytes_written(u64 number, u64 length, u64 second, u64 third, struct ispan_bytes *bytes)
{
	switch (number) {
	case NR_write:
	case NR_sendto:
		return bytes_of(NR_read, length, second, 0, 0, bytes);
	case NR_writev:
		return bytes_of(NR_readv, length, second, third, 0, bytes);
	case NR_sendmsg:
		return bytes_of(NR_recvmsg, length, second, 0, 0, bytes);
	default:
		return false;
	}
}

/* Reads the length of the response from its headers. */
static __always_inline void read_answer_head(struct ispan_connection *connection, const struct ispan_bytes *bytes, int kind)
{
	struct ispan_scan *scan = current_scan();
	u64 head;

	if (!scan)
		return;
	begin_scan(scan, NULL);
	scan->head.flags = HEAD_REQUEST_LINE; /* skips the status line, as if it were an unknown header */
	if (!gather(bytes))
		return;
	http_scan_text(scan->length);
	if (!(scan->head.flags & HEAD_FINISHED))
		return;
	head = scan->end - HTTP_BASE;
	if (kind == ANSWER_HAS_NONE || connection->flags & OPEN_NO_BODY) {
		connection->left = head;
		connection->flags |= OPEN_COUNTED;
	} else if (scan->head.flags & HEAD_CHUNKED) {
		connection->flags |= OPEN_CHUNKED;
	} else if (scan->head.flags & HEAD_LENGTH) {
		connection->left = head + scan->head.content_length;
		connection->flags |= OPEN_COUNTED;
	}
}

static __always_inline void note_progress(const struct ispan_connection *connection, u32 flags)
{
	u64 number = connection->number;
	struct ispan_request *request = connection->flags & OPEN_SAMPLED ? bpf_map_lookup_elem(&requests, &number) : NULL;

	if (request)
		request->flags = (request->flags & ~ISPAN_REQUEST_STREAMS) | flags;
}

/* Reads status and length of a response from its first bytes. Not static, so that the verifier checks it once. */
__noinline int answer_begins(struct ispan_connection *connection, u64 number, u64 length, u64 second, u64 third)
{
	struct ispan_bytes bytes;
	u8 text[STATUS_BYTES] = {};
	int kind = ANSWER_UNKNOWN;

	if (!connection)
		return 0;
	if (bytes_written(number, length, second, third, &bytes) && !bpf_probe_read_user(text, sizeof(text), (void *)bytes.buffer))
		kind = kind_of_answer(text);
	if (kind == ANSWER_INTERIM)
		return 0;
	if (kind == ANSWER_HAS_BODY || kind == ANSWER_HAS_NONE)
		read_answer_head(connection, &bytes, kind);
	connection->flags |= OPEN_RESPONDED;
	note_progress(connection, ISPAN_REQUEST_RESPONDED | (kind == ANSWER_UNKNOWN ? 0 : ISPAN_REQUEST_STREAMS));
	return 0;
}

/* Returns whether the response ends with these bytes. Not static, so that the verifier checks it once. */
__noinline int answer_ends(struct ispan_connection *connection, u64 number, u64 length, u64 second, u64 third)
{
	struct ispan_bytes bytes;

	if (!connection || connection->flags & OPEN_PIPELINED)
		return false;
	if (connection->flags & OPEN_COUNTED) {
		connection->left = connection->left > length ? connection->left - length : 0;
		return !connection->left;
	}
	return connection->flags & OPEN_CHUNKED && bytes_written(number, length, second, third, &bytes) && ends_chunks(&bytes);
}

/*
 * Called when a response is complete. If an event loop read the request and has no other open request, the loop keeps the request
 * until its next wait, so that its work after the response is attributed, too. Returns whether the loop keeps it.
 */
static __always_inline bool keeps_request(struct ispan_thread *thread, const struct ispan_connection *connection, s32 fd)
{
	u64 number = connection->number;
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_request *request;

	if (!thread || !is_loop(thread) || connection->reader != pid_tgid || thread->mixed == number ||
	    sole_request(pid_tgid) != number)
		return false;
	request = bpf_map_lookup_elem(&requests, &number);
	if (!request)
		return false;
	request->flags |= ISPAN_REQUEST_KEPT;
	thread->request = number;
	thread->source = ISPAN_SOURCE_HTTP;
	thread->fd = fd;
	thread->flags = (thread->flags & ~ISPAN_THREAD_AWAY) | ISPAN_THREAD_ALONE;
	return true;
}

/*
 * Called when a response has ended: the connection's request no longer counts as open. It ends, unless a thread keeps it or a part of
 * its body has not been read yet: the next head may arrive in one read with that part. Not static, so that the verifier checks it
 * once.
 */
__noinline int answered(u64 key, struct ispan_connection *connection)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	const struct ispan_settings *settings = current_settings();
	struct ispan_server *server = server_of(key >> 32);
	struct ispan_request *request;
	bool kept;
	u64 number;

	if (!connection || !settings)
		return 0;
	note_progress(connection, ISPAN_REQUEST_RESPONDED | ISPAN_REQUEST_ANSWERED);
	kept = keeps_request(thread, connection, (s32)key);
	number = connection->flags & OPEN_SAMPLED ? connection->number : 0;
	request = number ? bpf_map_lookup_elem(&requests, &number) : NULL;
	/* A thread of a pool may take its next job without a wait. */
	if (request && request->flags & ISPAN_REQUEST_BOUND && thread && thread->request == number &&
	    thread->flags & ISPAN_THREAD_POOL) {
		request->flags &= ~ISPAN_REQUEST_BOUND;
		thread->request = 0;
	}
	if (request && request->flags & ISPAN_REQUEST_BOUND && !(server && server->flags & SERVER_HANDS_OVER))
		kept = true;
	count_answered(key, connection);
	if (connection->body && server)
		server->flags |= SERVER_LATE_BODIES;
	else if (!kept || !request)
		connection_ends(key);
	return 0;
}

/*
 * Ends a request, sampled or not, whose response was complete before its body was read, when the body has been read to the end. Until
 * then, reads of the body belong to the request. Not static, so that the verifier checks it once.
 */
__noinline int after_body(u64 key)
{
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);
	const struct ispan_settings *settings = current_settings();
	struct ispan_request *request;
	u64 number;

	if (!settings || !connection || connection->body || (connection->flags & (OPEN_ANSWERED | OPEN_UNFINISHED)) != OPEN_ANSWERED)
		return 0;
	number = connection->number;
	request = bpf_map_lookup_elem(&requests, &number);
	if (!request || !(request->flags & (ISPAN_REQUEST_BOUND | ISPAN_REQUEST_KEPT)))
		connection_ends(key);
	return 0;
}

/* Returns the parent process's connection if the parent started this process for the request; both share the socket. */
static __always_inline u64 key_of_parent(struct ispan_thread *thread, s32 fd)
{
	struct ispan_request *request = thread && thread->source == ISPAN_SOURCE_INHERITED ? request_of(thread) : NULL;

	return request ? connection_of(request->tgid, fd) : 0;
}

/* From now on, attributes operations to the process's requests only by the connection, and not by the thread that read the request. */
static __always_inline void hand_over(struct ispan_server *server)
{
	struct ispan_activity *activity = activity_now();

	server->flags |= SERVER_HANDS_OVER;
	if (activity) /* a new value makes all threads look their request up again */
		__sync_fetch_and_add(&activity->ended, 1);
}

/*
 * Called when a thread writes to a request's connection. A thread that did not read the request was either started for it, or got
 * it from the thread that read it.
 */
static __always_inline void written_by_another(struct ispan_thread *thread, struct ispan_connection *connection)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_server *server;

	if (connection->reader == pid_tgid)
		return;
	connection->flags |= OPEN_HELPED;
	if (connection->reader >> 32 != pid_tgid >> 32 || (thread && thread->request == connection->number))
		return;
	count(ISPAN_COUNT_ANSWERED_ELSEWHERE);
	server = server_of(connection->reader >> 32);
	if (server && !(server->flags & SERVER_HANDS_OVER))
		hand_over(server);
}

/*
 * Called after a write, with the system call's number, result and arguments. If the bytes belong to a response, tracks its
 * beginning and its end. Not static, so that the verifier checks it once.
 */
__noinline int after_write(u64 number_and_fd, u64 length, u64 second, u64 third)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	s32 fd = (s32)number_and_fd;
	u64 number = number_and_fd >> 32;
	u64 key = connection_of(bpf_get_current_pid_tgid() >> 32, fd);
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);

	if (!connection) {
		key = key_of_parent(thread, fd);
		connection = key ? bpf_map_lookup_elem(&connections, &key) : NULL;
	}
	if (!connection || !settings || connection->flags & OPEN_ANSWERED)
		return 0;
	if (!is_same_socket(connection, fd)) {
		if (key >> 32 == bpf_get_current_pid_tgid() >> 32)
			connection_gone(key);
		return 0;
	}
	if (number == NR_sendmmsg)
		length = bytes_of_messages(second, length);
	written_by_another(thread, connection);
	if (!(connection->flags & OPEN_RESPONDED))
		answer_begins(connection, number, length, second, third);
	if (connection->flags & OPEN_RESPONDED && answer_ends(connection, number, length, second, third))
		answered(key, connection);
	return 0;
}

#endif
