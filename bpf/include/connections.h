/* SPDX-License-Identifier: GPL-2.0-only */
/* Which request heads are open: read from a connection, and not known to be answered. Sampled ones and all others. */
#ifndef INFERSPAN_CONNECTIONS_H
#define INFERSPAN_CONNECTIONS_H

#include "requests.h"

/* A function of its own, so that the row lies on no other's stack: all that call each other have 512 bytes. */
__noinline int make_server(u32 tgid)
{
	struct ispan_server none = {};

	return bpf_map_update_elem(&servers, &tgid, &none, BPF_NOEXIST);
}

static __always_inline struct ispan_server *server_made_of(u32 tgid)
{
	if (!server_of(tgid))
		make_server(tgid);
	return server_of(tgid);
}

/* Counts a head in or out. Out of order with others of the process, sole and sole_number do not fit each other, and name no request. */
static __always_inline void count_open(struct ispan_server *server, u64 key, u64 number, s64 more)
{
	if (more > 0)
		__sync_fetch_and_add(&server->open, 1);
	__sync_fetch_and_xor(&server->sole, key);
	__sync_fetch_and_xor(&server->sole_number, number);
	if (more < 0)
		__sync_fetch_and_add(&server->open, -1);
	if (server->open > 1)
		server->shared_ns = bpf_ktime_get_ns();
}

static __always_inline void count_heads(s64 more)
{
	struct ispan_activity *activity = activity_now();

	if (activity)
		__sync_fetch_and_add(&activity->heads, more);
}

/*
 * Opens a connection that has none open. One that finds no room is counted for ever: with a neighbour that cannot be seen to end,
 * no thread of the process says anything any more. Not static, so that the verifier reads it once.
 */
__noinline int connection_open(u64 key, u64 number, u64 flags, u64 body)
{
	struct ispan_connection connection = {.number = number, .body = body, .flags = flags};
	struct ispan_server *server = server_of(key >> 32);

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

/* Counts it as open no more, once. */
static __always_inline void count_answered(u64 key, struct ispan_connection *connection)
{
	struct ispan_server *server = server_of(key >> 32);
	u64 number = connection->number;

	if (!(__sync_fetch_and_or(&connection->flags, OPEN_ANSWERED) & OPEN_ANSWERED) && server)
		count_open(server, key, number, -1);
}

/* The request that ends with it, by number, or 0. Of two that close it at once, one gets it. Not static, as above. */
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

static __always_inline bool any_open(void)
{
	struct ispan_activity *activity = activity_now();

	return activity && activity->heads;
}

/* Whether this descriptor of the current process still is the socket on which the head came. */
static __always_inline bool is_same_socket(const struct ispan_connection *connection, s32 fd)
{
	return connection->socket == socket_number(file_of(bpf_get_current_task_btf(), fd));
}

/* What has no length ends with its connection; what has one, and did not come to it, was given up. */
static __always_inline bool is_abandoned(u32 flags)
{
	if (flags & OPEN_ANSWERED)
		return false;
	return !(flags & OPEN_RESPONDED) || flags & (OPEN_COUNTED | OPEN_CHUNKED);
}

/* A descriptor that is closed, or given out anew, has no connection any more. Not static, so that the verifier reads it once. */
__noinline int connection_gone(u64 key)
{
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);
	struct ispan_server *server = server_of(key >> 32);

	if (connection && server && is_abandoned(connection->flags))
		server->abandoned_ns = bpf_ktime_get_ns();
	return request_end(connection_close(key));
}

#endif
