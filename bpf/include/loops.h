/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows the waits of event loops (threads that may serve several requests), to know when their timers may be due. The work of
 * timers belongs to no request.
 */
#ifndef INFERSPAN_LOOPS_H
#define INFERSPAN_LOOPS_H

#include "connections.h"

#define ROUNDING_NANOS 999999 /* event loops round their timeouts up to milliseconds */
#define TFD_TIMER_ABSTIME 1
#define LONGEST_TIMER_NANOS 86400000000000ull
#define SET_WORDS 4 /* words of an fd_set that are read: 256 descriptors, which include those that a loop opens first */

struct ispan_time {
	s64 seconds;
	s64 nanos;
};

static __always_inline bool is_epoll(u64 number)
{
	switch (number) {
	CASE_EPOLLS:
		return true;
	default:
		return false;
	}
}

/* Returns the longest time that a call waits; 0 if it does not wait, negative if without limit. */
static __always_inline s64 wait_nanos(u64 number, u64 timeout)
{
	struct ispan_time time = {};

	if (number == NR_epoll_wait || number == NR_epoll_pwait || number == NR_poll)
		return (s64)(s32)timeout * 1000000;
	if (!timeout)
		return -1;
	bpf_probe_read_user(&time, sizeof(time), (void *)timeout);
	return time.seconds * 1000000000 + (number == NR_select ? time.nanos * 1000 : time.nanos);
}

static __always_inline bool is_poll(u64 number)
{
	switch (number) {
	CASE_POLLS:
		return true;
	default:
		return false;
	}
}

/*
 * Returns the earliest time at which a loop may have read the clock for its timeout: when its last wait returned, because libuv
 * reads the clock before it runs callbacks. For a thread that is not a loop, returns the current time, because it waits for work
 * of its own request.
 */
static __always_inline u64 clock_of_loop(const struct ispan_thread *thread)
{
	return thread->flags & ISPAN_THREAD_LOOP && thread->woke_ns ? thread->woke_ns : bpf_ktime_get_ns();
}

/*
 * Called when an event loop waits for work. Stores when its first timer is due: when the timeout of the wait expires. A loop waits only
 * after it has done the work of earlier events. Also called while no request is open, because the
 * work for a request begins after this wait.
 */
static __always_inline void loop_waits(struct ispan_thread *thread, s64 nanos)
{
	thread->flags &= ~ISPAN_THREAD_OTHER;
	thread->timer_ns = nanos < 0 ? 0 : clock_of_loop(thread) + nanos - ROUNDING_NANOS;
}

/* Called before epoll_wait and its variants. Not static, so that the verifier checks it once. */
__noinline int loop_epolls(u64 number, u64 timeout)
{
	const struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	s64 nanos = wait_nanos(number, timeout);
	struct ispan_thread *thread;

	if (!nanos || !settings || task->tgid == settings->self_tgid)
		return 0;
	thread = thread_of(task);
	if (!thread && nanos > 0 && in_scope(settings, task->tgid))
		thread = thread_made_of(task);
	if (!thread)
		return 0;
	thread->flags |= ISPAN_THREAD_EPOLL;
	loop_waits(thread, nanos);
	return 0;
}

/* Returns whether poll or select waits for at least two descriptors, as loops do. */
static __always_inline bool waits_for_several(u64 number, u64 first, u64 second)
{
	u64 before = 0, word;

	if (number == NR_poll || number == NR_ppoll)
		return second > 1;
	for (u64 i = 0; i < SET_WORDS && i * 64 < first; i++, before |= word) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(second + i * sizeof(word))))
			return false;
		if (word & (word - 1) || (word && before))
			return true;
	}
	return false;
}

/*
 * Called before poll and select, with their arguments and the stack pointer. A call counts as the loop's own wait if it waits for
 * several descriptors and is not deeper in the stack than the loop's earlier waits. A deeper wait may be inside a callback, and can
 * only make timer_ns earlier. Not static, so that the verifier checks it once.
 */
__noinline int loop_polls(u64 number, u64 first, u64 second, u64 timeout, u64 sp)
{
	const struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_thread *thread = thread_of(task);
	s64 nanos = wait_nanos(number, timeout);
	struct ispan_server *server;
	bool several;
	u64 due;

	if (!nanos || !settings || task->tgid == settings->self_tgid || (thread && thread->flags & ISPAN_THREAD_EPOLL))
		return 0;
	several = waits_for_several(number, first, second);
	if (!thread && several && nanos > 0 && in_scope(settings, task->tgid))
		thread = thread_made_of(task);
	if (!thread || (!several && !thread->wait_sp))
		return 0;
	server = server_of(task->tgid);
	if (sp >= thread->wait_sp || (several && !(server && server->open))) {
		thread->wait_sp = sp;
		thread->flags |= ISPAN_THREAD_IN_LOOP;
		loop_waits(thread, nanos);
	} else if (nanos > 0) {
		due = bpf_ktime_get_ns() + nanos - ROUNDING_NANOS;
		if (!thread->timer_ns || due < thread->timer_ns)
			thread->timer_ns = due;
	}
	return 0;
}

/*
 * Called when a thread disarms a timerfd. If the timerfd had expired, the work until the loop's next wait may belong to timers.
 * Ignored if another thread set the timerfd, because the disarming thread cannot know whether the loop has begun this work.
 */
static __always_inline void timerfd_disarmed(struct task_struct *task, u32 fd)
{
	struct ispan_server *server = server_of(task->tgid);
	struct ispan_thread *thread = thread_of(task);

	if (!server || !thread || server->timer_tid != (u32)task->pid || server->timer_fd != fd + 1)
		return;
	if (bpf_ktime_get_ns() >= server->timer_ns)
		thread->flags |= ISPAN_THREAD_OTHER;
	server->timer_ns = ~0ull;
	server->timer_fd = 0;
}

/*
 * Called when a thread sets a timerfd, whose expiry ends a loop's wait like data on a connection. A loop often sets it again before
 * it runs the expired timers, so the work until its next wait may belong to them. Not static, so that the verifier checks it once.
 */
__noinline int timerfd_set(u32 fd, u64 flags, u64 value)
{
	const struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_time times[2] = {}; /* the interval, and the first expiry */
	struct ispan_server *server;
	struct ispan_thread *thread;
	u64 due, now = bpf_ktime_get_ns();

	if (!settings || !in_scope(settings, task->tgid) || bpf_probe_read_user(times, sizeof(times), (void *)value))
		return 0;
	due = times[1].seconds * 1000000000 + times[1].nanos;
	if (!due) {
		timerfd_disarmed(task, fd);
		return 0;
	}
	server = server_made_of(task->tgid);
	thread = server ? thread_made_of(task) : NULL;
	if (!thread)
		return 0;
	if (!(flags & TFD_TIMER_ABSTIME))
		due += now;
	else if (due > now + LONGEST_TIMER_NANOS) /* the time of another clock */
		due = now;
	if (times[0].seconds || times[0].nanos || (server->timer_tid && server->timer_tid != (u32)task->pid) ||
	    (server->timer_fd && server->timer_fd != fd + 1))
		server->flags |= SERVER_TIMERS;
	server->timer_tid = task->pid;
	server->timer_fd = fd + 1;
	if (server->timer_ns && now >= server->timer_ns)
		thread->flags |= ISPAN_THREAD_OTHER;
	if (!server->timer_ns || now >= server->timer_ns || due < server->timer_ns)
		server->timer_ns = due;
	return 0;
}

#endif
