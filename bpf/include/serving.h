/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Infers from the system calls of a thread whether it still works for its request. An inherited request is that of the thread or
 * process that started this one.
 */
#ifndef INFERSPAN_SERVING_H
#define INFERSPAN_SERVING_H

#include "connections.h"
#include "descriptors.h"
#include "loops.h"

#define SHORT_WAIT_NANOS 50000000 /* a shorter wait is a retry for a lock, such as an interpreter's, and not a wait for a job */
#define FUTEX_REALTIME 256
#define MUTEX_CONTENDED 2

static __always_inline bool has_body_to_come(const struct ispan_request *request, u64 number)
{
	u64 key = connection_of(request->tgid, request->fd);
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);

	return connection && connection->number == number && connection->body;
}

/*
 * The functions of this file without `static` are checked once by the verifier, and not in every caller. In return, they look up
 * values that their callers already have.
 */

/*
 * Called before the thread reads from the connection of its request, or closes it. If the response has been written, the request
 * then ends, unless a part of its body is still to be read.
 */
__noinline int reads_own_connection(void)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = thread ? request_of(thread) : NULL;

	if (settings && request && is_answered(request) && request->tgid == bpf_get_current_pid_tgid() >> 32 &&
	    !has_body_to_come(request, thread->request)) {
		request_end(thread->request);
		thread->request = 0;
	}
	return 0;
}

/*
 * Returns whether the system call is inside a probed library function, whose waits do not end the request. At the function's
 * entry, the stack pointer was above the one of the system call.
 */
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

/*
 * Returns whether a futex wait may be a wait for a job. A wait for a mutex of the C library is not: its futex has the value
 * MUTEX_CONTENDED. Neither is a wait for an interpreter's lock, which is repeated with a timeout of a few milliseconds.
 */
__noinline int waits_in_queue(u64 operation, u64 value, u64 timeout)
{
	struct ispan_time until = {};
	u64 command = operation & FUTEX_COMMAND;
	u64 now = command == 0 ? 0 : bpf_ktime_get_ns();

	if (!is_futex_wait(operation) || (!command && !timeout && (u32)value == MUTEX_CONTENDED))
		return false;
	if (!timeout || operation & FUTEX_REALTIME || bpf_probe_read_user(&until, sizeof(until), (void *)timeout))
		return true;
	return until.seconds * 1000000000 + until.nanos > (s64)(now + SHORT_WAIT_NANOS);
}

/* Returns whether this call may give the thread other work; a wait for its own connection, or a sleep, cannot. */
static __always_inline bool may_bring_work(const struct ispan_thread *thread, u64 number, u64 first, u64 second, u64 third,
					    u64 fourth)
{
	switch (number) {
	CASE_EPOLLS:
	CASE_QUEUES:
	case NR_futex_waitv:
		return true;
	case NR_futex:
		return waits_in_queue(second, third, fourth);
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

/*
 * Detaches the thread from its request: its further work does not belong to the request. The request itself continues, because the
 * threads that this thread started may still work for it.
 */
__noinline int leave_request(u64 number)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = bpf_map_lookup_elem(&requests, &number);

	if (!settings || !thread)
		return 0;
	if (request && !(thread->flags & ISPAN_THREAD_LEFT) && thread->source != ISPAN_SOURCE_INHERITED)
		otel_withdraw(settings, request);
	thread->flags |= ISPAN_THREAD_LEFT;
	return 0;
}

/*
 * Called when the thread waits for other work after the response has begun. If the response is complete, the request ends;
 * otherwise, the thread leaves it.
 */
static __always_inline void waits_after_response(const struct ispan_settings *settings, struct ispan_thread *thread,
					   struct ispan_request *request)
{
	if (!(request->flags & ISPAN_REQUEST_ANSWERED)) {
		leave_request(thread->request);
		return;
	}
	if (!has_body_to_come(request, thread->request))
		request_end(thread->request);
	request->flags &= ~(ISPAN_REQUEST_BOUND | ISPAN_REQUEST_KEPT);
	thread->request = 0;
}

/*
 * Called when a thread that was started for a request waits. If it may wait for a job, the thread may belong to a pool, and its
 * next work is not attributed to the request.
 */
static __always_inline void inherited_waits(struct ispan_thread *thread, u64 number, u64 second, u64 third, u64 fourth)
{
	switch (number) {
	CASE_EPOLLS:
	CASE_QUEUES:
	case NR_futex_waitv:
		thread->request = 0;
		break;
	case NR_futex:
		if (waits_in_queue(second, third, fourth))
			thread->request = 0;
		break;
	}
}

/*
 * Called when the thread waits for other work before the response ends: it is an event loop, which may have several requests.
 */
static __always_inline void becomes_loop(const struct ispan_settings *settings, struct ispan_thread *thread,
					 struct ispan_request *request)
{
	request->flags &= ~ISPAN_REQUEST_BOUND;
	otel_withdraw(settings, request);
	thread->request = 0;
	thread->flags |= ISPAN_THREAD_LOOP;
	thread->flags &= ~ISPAN_THREAD_AWAY;
}

/* Called before a system call that may wait, with its number and arguments. */
__noinline int before_wait(u64 number, u64 first, u64 second, u64 third, u64 fourth)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = thread ? request_of(thread) : NULL;

	if (!settings || !request || thread->source == ISPAN_SOURCE_CKP)
		return 0;
	if (thread->source == ISPAN_SOURCE_INHERITED) {
		inherited_waits(thread, number, second, third, fourth);
	} else if (is_answered(request)) {
		thread->flags |= ISPAN_THREAD_WAITING;
		if (may_bring_work(thread, number, first, second, third, fourth)) {
			if (!is_epoll(number) && !is_poll(number))
				thread->flags |= ISPAN_THREAD_POOL;
			waits_after_response(settings, thread, request);
		}
	} else if (is_epoll(number) && !(thread->flags & ISPAN_THREAD_LEFT)) {
		becomes_loop(settings, thread, request);
	}
	return 0;
}

/* A thread that accepts the next connection before the response has begun leaves the response to other threads. */
static __always_inline void before_accept(struct ispan_thread *thread)
{
	if (thread->source == ISPAN_SOURCE_INHERITED)
		thread->request = 0;
	else if (thread->source != ISPAN_SOURCE_CKP)
		leave_request(thread->request);
}

/* Returns whether reads from the descriptor can bring a thread other work than its request's. */
static __always_inline bool brings_work(const struct ispan_thread *thread, u64 number, s32 fd, u32 kind)
{
	/* Even if the thread has written to the eventfd: threads wake each other by writing to the same one. */
	if (kind == ISPAN_FD_ANON)
		return true;
	return (kind == ISPAN_FD_INET || kind == ISPAN_FD_UNIX || kind == ISPAN_FD_PIPE) && !has_touched(thread, number, fd);
}

/*
 * Called when a thread that was started for a request reads. If it reads from another descriptor than the request's, it may receive
 * other work, and no longer works for the request.
 */
__noinline int inherited_reads(u32 fd)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());

	if (thread && (s32)fd != thread->fd && brings_work(thread, thread->request, (s32)fd, kind_of_fd(fd)))
		thread->request = 0;
	return 0;
}

/*
 * Called when a thread reads from another descriptor than its request's. After the response, it receives other work by this read.
 */
__noinline int answered_reads(u32 fd)
{
	const struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *request = thread ? request_of(thread) : NULL;

	if (settings && request && is_answered(request) && brings_work(thread, thread->request, (s32)fd, kind_of_fd(fd)))
		waits_after_response(settings, thread, request);
	return 0;
}

/*
 * Returns whether bytes of a body are late (see below). A body without a next head behind it is not late for a thread that still has
 * the request. Not static, so that the verifier checks it once.
 */
__noinline int is_late_body(u64 key, u64 with_head)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);

	return connection && connection->flags & OPEN_ANSWERED &&
	       (with_head || !thread || thread->request != connection->number);
}

/*
 * Called when an event loop reads from a descriptor that belongs to no request, such as another connection, or a pipe by which
 * other threads wake the loop. With bytes 0, the loop has accepted a connection, or found one closed. Until the loop waits again,
 * its work cannot be distinguished from that of the open request. After a read from another TCP or UDP socket, this is also true
 * of later work, because the bytes may be a request of another protocol. It is true as well if the bytes are a late body, that is, if
 * they belong to the body of a request that has its response: its handler may go on. Reads from an eventfd are ignored: mostly, a
 * call of the request has ended, or the runtime wakes its own loop.
 */
__noinline int reads_elsewhere(u64 key, u64 bytes, u64 late)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	u64 number = sole_request(pid_tgid);
	struct ispan_request *request = number ? bpf_map_lookup_elem(&requests, &number) : NULL;
	u32 kind = kind_of_fd((u32)key);

	if (!thread || thread->source == ISPAN_SOURCE_CKP || (!bytes && !number) ||
	    (!late && bpf_map_lookup_elem(&connections, &key)) || kind == ISPAN_FD_ANON ||
	    !brings_work(thread, number, (s32)key, kind))
		return 0;
	if (thread->woke_ns) /* not a thread of a pool, which reads what it waits for */
		thread->flags |= ISPAN_THREAD_OTHER;
	else if (kind != ISPAN_FD_INET && !late)
		return 0;
	if (!request || !is_loop(thread))
		return 0;
	if ((kind == ISPAN_FD_INET && bytes) || late)
		thread->mixed = number;
	if (!(request->flags & ISPAN_REQUEST_MIXED))
		count(ISPAN_COUNT_THREADS_MIXED);
	request->flags |= ISPAN_REQUEST_MIXED;
	return 0;
}

#endif
