/* SPDX-License-Identifier: GPL-2.0-only */
/* What a thread's next system call says about the request it serves. */
#ifndef INFERSPAN_SERVING_H
#define INFERSPAN_SERVING_H

#include "files.h"
#include "numbers.h"
#include "requests.h"

/* These are not static, so that the verifier reads each once; so they ask again for what their caller knows. */

/* Reading a connection again behind the response is waiting for the next request: this one is over. */
__noinline int reads_own_connection(void)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = thread ? request_of(thread) : NULL;

	if (settings && request && request->flags & ISPAN_REQUEST_RESPONDED &&
	    request->tgid == bpf_get_current_pid_tgid() >> 32) {
		request_end(settings, thread->request);
		thread->request = 0;
	}
	return 0;
}

/* "HTTP/1.1 100 Continue" and its like come before the response. */
static __always_inline bool is_interim(u64 number, u64 buffer)
{
	const char status[10] = "HTTP/1.1 1";
	char begin[10] = {};

	if ((number != NR_write && number != NR_sendto) || bpf_probe_read_user(begin, sizeof(begin), (void *)buffer))
		return false;
	return !__builtin_memcmp(begin, status, sizeof(begin));
}

/*
 * Whether this descriptor is the socket on which a request came to that process. Others with the same number are a file of a
 * child's, or of a program that has the process's number now.
 */
__noinline int is_connection(u32 tgid, u32 fd)
{
	u64 key = connection_of(tgid, (s32)fd);
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);

	return connection && connection->socket == socket_number(file_of(bpf_get_current_task_btf(), (s32)fd));
}

/* A child has its parent's connections, until it makes something else of their numbers. */
static __always_inline bool is_connection_of(const struct ispan_request *request, u32 tgid, s32 fd)
{
	return request->tgid == tgid || is_connection(request->tgid, fd);
}

/* Writing to its own connection begins the response. */
__noinline int writes_own_connection(u64 number, u64 fd, u64 buffer)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = thread ? request_of(thread) : NULL;

	if (request && !(request->flags & ISPAN_REQUEST_RESPONDED) &&
	    is_connection_of(request, bpf_get_current_pid_tgid() >> 32, (s32)fd) && !is_interim(number, buffer))
		request->flags |= ISPAN_REQUEST_RESPONDED;
	return 0;
}

/*
 * Writing to the connection of another request, which only a thread does that answers several at once, shows an event loop
 * that began to answer the first before the second came.
 */
__noinline int writes_others_connection(void)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());

	if (!settings || !thread)
		return 0;
	thread->flags |= ISPAN_THREAD_INTERLEAVED;
	count(ISPAN_COUNT_THREADS_INTERLEAVED);
	request_end(settings, thread->request);
	thread->request = 0;
	return 0;
}

static __always_inline void before_write(struct ispan_thread *thread, struct pt_regs *regs, long number)
{
	s32 fd = number == NR_splice ? (s32)ARG3(regs) : (s32)ARG1(regs);

	if (fd == thread->fd)
		writes_own_connection(number, fd, ARG2(regs));
	else if (thread->source == ISPAN_SOURCE_HTTP && is_connection(bpf_get_current_pid_tgid() >> 32, fd))
		writes_others_connection();
}

/* A watched library function waits as it likes. Its caller's stack is above the system call's. */
static __always_inline bool is_in_call(const struct ispan_thread *thread, u64 sp)
{
	u32 top = thread->depth - 1;

	return top < ISPAN_FRAMES && thread->frames[top].sp > sp;
}

static __always_inline bool polls_itself(const struct ispan_thread *thread, u64 polled, u64 count)
{
	s32 fd = -1;

	return count == 1 && !bpf_probe_read_user(&fd, sizeof(fd), (void *)polled) && fd == thread->fd;
}

/* Whether the thread may come back with work of another's: not from its own connection, nor from a sleep or a lock. */
static __always_inline bool may_bring_work(const struct ispan_thread *thread, u64 number, u64 first, u64 second)
{
	switch (number) {
	CASE_EPOLLS:
		return true;
	case NR_select:
	case NR_pselect6:
		return first;
	case NR_poll:
	case NR_ppoll:
		return second && !polls_itself(thread, first, second);
	default:
		return false;
	}
}

/* The request goes on, for those the thread started for it; to be ended as if the thread still had it. */
__noinline int leave(u64 number)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = bpf_map_lookup_elem(&requests, &number);

	if (!settings || !thread)
		return 0;
	if (request && !(thread->flags & ISPAN_THREAD_LEFT) && thread->source != ISPAN_SOURCE_INHERITED)
		contract_withdraw(settings, request);
	thread->flags |= ISPAN_THREAD_LEFT;
	return 0;
}

/* By the system call's number, stack pointer and arguments. */
__noinline int before_wait(u64 number, u64 sp, u64 first, u64 second)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = thread ? request_of(thread) : NULL;

	if (!request || !(request->flags & ISPAN_REQUEST_RESPONDED) || thread->source == ISPAN_SOURCE_CKP ||
	    is_in_call(thread, sp))
		return 0;
	thread->flags |= ISPAN_THREAD_WAITING;
	if (may_bring_work(thread, number, first, second))
		leave(thread->request);
	return 0;
}

/* Whoever asks for the next connection leaves the answer to others, if there is none yet. */
static __always_inline void before_accept(struct ispan_thread *thread)
{
	if (thread->source != ISPAN_SOURCE_CKP)
		leave(thread->request);
}

/* A descriptor that is closed, or given out anew, has no connection any more. */
static __always_inline void connection_gone(const struct ispan_settings *settings, s32 fd)
{
	u64 connection = connection_of(bpf_get_current_pid_tgid() >> 32, fd);
	struct ispan_connection *gone = bpf_map_lookup_elem(&connections, &connection);

	if (!gone)
		return;
	request_end(settings, gone->request);
	bpf_map_delete_elem(&connections, &connection);
}

#endif
