/* SPDX-License-Identifier: GPL-2.0-only */
/* Infers from a thread's next system call whether its request is over. */
#ifndef INFERSPAN_SERVING_H
#define INFERSPAN_SERVING_H

#include "connections.h"
#include "descriptors.h"

#define SHORT_WAIT_NANOS 50000000 /* shorter waits are retries for a lock, such as an interpreter's, and not waits for a work queue */
#define ROUNDING_NANOS 999999 /* event loops round the timeouts of epoll_wait up to milliseconds */
#define FUTEX_REALTIME 256
#define MUTEX_CONTENDED 2

struct ispan_time {
	s64 seconds;
	s64 nanos;
};

static __always_inline bool has_body_to_come(const struct ispan_request *request, u64 number)
{
	u64 key = connection_of(request->tgid, request->fd);
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);

	return connection && connection->number == number && connection->body;
}

/*
 * These functions are not static, so that the verifier checks each once. Therefore they look up what their callers already
 * have.
 */

/*
 * A read of the same connection after the response waits for the next request, so this request is over, unless more of its body
 * is to come.
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
 * Returns whether the system call is inside a probed library function, whose waits do not end the request. The stack pointer of
 * that function is above the system call's.
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
 * Returns whether a futex wait may be a wait for a work queue. A wait for a mutex is not: the C library marks one by the
 * futex's value. Nor is a wait for an interpreter's lock, which is repeated with a timeout of a few milliseconds.
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
 * Detaches the thread from its request, which continues for the threads that it started. The same events end the request as if
 * the thread were still bound to it.
 */
__noinline int leave(u64 number)
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
 * Called when the thread waits for other work after a response: the request is over, or may be over if the response's length is
 * unknown.
 */
static __always_inline void waits_after_response(const struct ispan_settings *settings, struct ispan_thread *thread,
					   struct ispan_request *request)
{
	if (!(request->flags & ISPAN_REQUEST_ANSWERED)) {
		leave(thread->request);
		return;
	}
	if (!has_body_to_come(request, thread->request))
		request_end(thread->request);
	request->flags &= ~(ISPAN_REQUEST_BOUND | ISPAN_REQUEST_KEPT);
	thread->request = 0;
}

/*
 * A thread that was started for a request and waits for other work may belong to a pool: its next work is not attributed to the
 * request.
 */
static __always_inline void inherited_waits(struct ispan_thread *thread, u64 number, u64 second, u64 third, u64 fourth)
{
	switch (number) {
	CASE_EPOLLS:
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

static __always_inline bool is_epoll(u64 number)
{
	switch (number) {
	CASE_EPOLLS:
		return true;
	default:
		return false;
	}
}

/* Rounds up, as event loops do for epoll_wait. */
static __always_inline s64 millis_of(u64 timeout)
{
	struct ispan_time time = {};

	bpf_probe_read_user(&time, sizeof(time), (void *)timeout);
	return time.seconds * 1000 + ((u64)time.nanos + 999999) / 1000000;
}

/*
 * Returns the earliest time at which a loop may have read the clock for its timeout: when its last epoll_wait returned, because
 * libuv reads the clock before the callbacks. For a thread that is not a loop, returns the current time, because it waits for
 * work of its own request.
 */
static __always_inline u64 clock_of_loop(const struct ispan_thread *thread)
{
	return thread->flags & ISPAN_THREAD_LOOP && thread->woke_ns ? thread->woke_ns : bpf_ktime_get_ns();
}

/*
 * Stores when an event loop's first timer is due, which is the end of its longest possible wait. The timer's work cannot be
 * attributed to a request. Also called while no request is open, because the work for a request begins after this wait. Not
 * static, so that the verifier checks it once.
 */
__noinline int loop_waits(u64 number, u64 timeout)
{
	const struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	s64 millis = (s32)timeout;
	struct ispan_thread *thread;

	if (number == NR_epoll_pwait2)
		millis = timeout ? millis_of(timeout) : -1;
	if (!millis || !settings || task->tgid == settings->self_tgid)
		return 0;
	thread = thread_of(task);
	if (!thread && millis > 0 && in_scope(settings, task->tgid))
		thread = thread_made_of(task);
	if (!thread)
		return 0;
	if (millis < 0)
		thread->timer_ns = 0; /* no timer */
	else
		thread->timer_ns = clock_of_loop(thread) + millis * 1000000 - ROUNDING_NANOS;
	return 0;
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
		if (may_bring_work(thread, number, first, second, third, fourth))
			waits_after_response(settings, thread, request);
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
		leave(thread->request);
}

static __always_inline bool has_touched(const struct ispan_thread *thread, s32 fd)
{
	for (int i = 0; i < ISPAN_TOUCHED; i++)
		if (thread->touched[i] == fd + 1)
			return true;
	return false;
}

/*
 * Threads and processes receive work by reading. A thread that was started for a request and reads from another descriptor no
 * longer works for it.
 */
__noinline int inherited_reads(u32 fd)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	u32 kind;

	if (!thread || (s32)fd == thread->fd || has_touched(thread, (s32)fd))
		return 0;
	kind = kind_of_fd(fd);
	if (kind == ISPAN_FD_INET || kind == ISPAN_FD_UNIX || kind == ISPAN_FD_PIPE)
		thread->request = 0;
	return 0;
}

/*
 * Called when an event loop reads from a descriptor that belongs to no request. The work that follows cannot be distinguished
 * from the open request's.
 */
__noinline int reads_elsewhere(u64 key)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	u64 number = sole_request(pid_tgid);
	struct ispan_request *request = number ? bpf_map_lookup_elem(&requests, &number) : NULL;

	if (!thread || !request || !is_loop(thread) || thread->mixed == number || bpf_map_lookup_elem(&connections, &key) ||
	    has_touched(thread, (s32)key) || kind_of_fd((u32)key) != ISPAN_FD_INET)
		return 0;
	thread->mixed = number;
	request->flags |= ISPAN_REQUEST_MIXED;
	count(ISPAN_COUNT_THREADS_MIXED);
	return 0;
}

#endif
