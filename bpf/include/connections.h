/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks the open requests by connection. A request, sampled or not, is open until its response has ended. The key of a connection
 * is the process id in the upper half and the descriptor in the lower half.
 */
#ifndef INFERSPAN_CONNECTIONS_H
#define INFERSPAN_CONNECTIONS_H

#include "requests.h"

/* Adds a process that serves requests. A separate function, because the struct takes much of a call chain's 512 bytes of stack. */
__noinline int make_server(u32 tgid)
{
	struct ispan_server none = {};

	return bpf_map_update_elem(&servers, &tgid, &none, BPF_NOEXIST);
}

static __always_inline struct ispan_server *server_made_of(u32 tgid)
{
	struct ispan_server *server = server_of(tgid);

	if (server)
		return server;
	make_server(tgid);
	return server_of(tgid);
}

/*
 * Counts a request as open (more is 1), or no longer as open (-1). While two threads change the counts at once, the fields sole
 * and sole_number (see ispan_server) may not match. Then they identify no request.
 */
static __always_inline void count_open(struct ispan_server *server, u64 key, u64 number, s64 more)
{
	if (more > 0)
		__sync_fetch_and_add(&server->open, 1);
	__sync_fetch_and_xor(&server->sole, key);
	__sync_fetch_and_xor(&server->sole_number, number);
	if (more < 0)
		__sync_fetch_and_add(&server->open, -1);
	else if (server->open > 1)
		server->shared_ns = bpf_ktime_get_ns();
}

static __always_inline void count_heads(s64 more)
{
	struct ispan_activity *activity = activity_now();

	if (activity)
		__sync_fetch_and_add(&activity->heads, more);
}

/*
 * Records that a request is open on a connection that had none. If the map is full, the request counts as open forever, because
 * its end cannot be observed. Then the work of the process's event loops and new threads is no longer attributed. Not static, so
 * that the verifier checks it once.
 */
__noinline int connection_open(struct ispan_server *server, u64 key, u64 number, u64 flags, u64 body)
{
	struct ispan_connection connection = {.number = number, .body = body, .flags = flags};

	if (!server)
		return 0;
	if (!(flags & OPEN_ANSWERED))
		count_open(server, key, number, 1);
	connection.reader = bpf_get_current_pid_tgid();
	connection.socket = socket_number(file_of(bpf_get_current_task_btf(), (s32)key));
	if (bpf_map_update_elem(&connections, &key, &connection, BPF_NOEXIST))
		count(ISPAN_COUNT_NO_MEMORY);
	else
		count_heads(1);
	return 0;
}

/* Stops counting the connection's request as open, unless this was done before. */
static __always_inline void count_answered(u64 key, struct ispan_connection *connection)
{
	struct ispan_server *server;
	u64 number = connection->number;

	if (__sync_fetch_and_or(&connection->flags, OPEN_ANSWERED) & OPEN_ANSWERED)
		return;
	server = server_of(key >> 32);
	if (server)
		count_open(server, key, number, -1);
}

/*
 * Removes a connection; returns the number of the sampled request that ends with it, or 0. If two threads remove it at once, only
 * one gets the number. Not static, so that the verifier checks it once.
 */
__noinline u64 connection_close(u64 key)
{
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);
	u64 number;
	u32 flags;

	if (!connection)
		return 0;
	count_answered(key, connection);
	number = connection->number;
	flags = connection->flags;
	if (bpf_map_delete_elem(&connections, &key))
		return 0;
	count_heads(-1);
	return flags & OPEN_SAMPLED ? number : 0;
}

/* Removes a connection, and ends its request. */
static __always_inline void connection_ends(u64 key)
{
	u64 number = connection_close(key);

	if (number)
		request_end(number);
}

static __always_inline bool any_open(void)
{
	struct ispan_activity *activity = activity_now();

	return activity && activity->heads;
}

/* Returns whether the descriptor still refers to the socket on which the request arrived. */
static __always_inline bool is_same_socket(const struct ispan_connection *connection, s32 fd)
{
	return connection->socket == socket_number(file_of(bpf_get_current_task_btf(), fd));
}

/* Returns whether the thread has sent data for this request on the descriptor. */
static __always_inline bool has_touched(const struct ispan_thread *thread, u64 number, s32 fd)
{
	for (int i = 0; i < ISPAN_TOUCHED; i++)
		if (thread->touched[i] == fd + 1)
			return number && thread->touched_for == number;
	return false;
}

/* Returns whether closing the connection aborts the response. It does not if the response has no length: then it ends in this way. */
static __always_inline bool is_abandoned(u32 flags)
{
	if (flags & OPEN_ANSWERED)
		return false;
	return !(flags & OPEN_RESPONDED) || flags & (OPEN_COUNTED | OPEN_CHUNKED);
}

/*
 * Called when a descriptor is closed or refers to another file: its request ends. Not static, so that the verifier checks it once.
 */
__noinline int connection_gone(u64 key)
{
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);
	struct ispan_server *server;

	if (!connection)
		return 0;
	server = server_of(key >> 32);
	if (server && is_abandoned(connection->flags))
		server->abandoned_ns = bpf_ktime_get_ns();
	connection_ends(key);
	return 0;
}

#endif
