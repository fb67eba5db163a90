// SPDX-License-Identifier: GPL-2.0-only
/* Recognises requests in the bytes that threads read, detects the end of their responses, and reports system calls. */
#include "answers.h"
#include "binding.h"
#include "framed.h"
#include "libraries.h"
#include "serving.h"
#include "syscalls.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#define ECONNRESET 104

/* Updates the thread's request before a system call. */
static __always_inline void before_call(struct ispan_thread *thread, struct pt_regs *regs, long number)
{
	switch (number) {
	CASE_READS:
		if (thread->source == ISPAN_SOURCE_INHERITED)
			inherited_reads((u32)ARG1(regs));
		else if ((s32)ARG1(regs) == thread->fd)
			reads_own_connection();
		else if (thread->source == ISPAN_SOURCE_HTTP)
			answered_reads((u32)ARG1(regs));
		break;
	CASE_WAITS:
		if (!is_in_call(thread, regs->sp))
			before_wait(number, ARG1(regs), ARG2(regs), ARG3(regs), ARG4(regs));
		break;
	CASE_ACCEPTS:
		before_accept(thread);
		break;
	case NR_close:
		if ((s32)ARG1(regs) == thread->fd)
			reads_own_connection();
		break;
	}
}

/* Before a system call, updates when the timers of the thread's event loop may be due. */
static __always_inline void before_loop(struct pt_regs *regs, long number)
{
	switch (number) {
	CASE_EPOLLS:
		loop_epolls(number, ARG4(regs));
		break;
	case NR_poll:
	case NR_ppoll:
		loop_polls(number, ARG1(regs), ARG2(regs), ARG3(regs), regs->sp);
		break;
	case NR_select:
	case NR_pselect6:
		loop_polls(number, ARG1(regs), ARG2(regs), ARG5(regs), regs->sp);
		break;
	case NR_timerfd_settime:
		timerfd_set((u32)ARG1(regs), ARG2(regs), ARG3(regs));
		break;
	}
}

/* Returns whether a reply may arrive on the descriptor of this system call. */
static __always_inline bool is_sent(long number)
{
	switch (number) {
	CASE_WRITES:
	case NR_connect:
		return true;
	default:
		return false;
	}
}

static __always_inline void call_begins(struct ispan_settings *settings, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_thread *thread;

	if (number == NR_close && any_open())
		connection_gone(connection_of(bpf_get_current_pid_tgid() >> 32, (s32)ARG1(regs)));
	before_loop(regs, number);
	if (!served_since(settings, task))
		return;
	thread = thread_of(task);
	if (thread && thread->request)
		before_call(thread, regs, number);
	if (thread && is_sent(number) && (thread->request || is_loop(thread)))
		note_touch((u32)ARG1(regs));
	if (settings->flags & (ISPAN_EMIT_SYSCALLS | ISPAN_EMIT_SCHED))
		syscall_begins(settings, task, thread, regs, number);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(context_sys_enter, struct pt_regs *regs, long number)
{
	struct ispan_settings *settings;
	u64 began;

	/* The return of a probed function is also a system call, which is not observed. */
	if (number == NR_uretprobe)
		return 0;
	settings = current_settings();
	if (!settings || !IS_NATIVE(regs))
		return 0;
	began = run_begins(settings);
	call_begins(settings, regs, number);
	run_ends(ISPAN_MEASURED_CONTEXT, began);
	return 0;
}

/* Returns whether a request may begin with these bytes, which may be fewer than four. */
static __always_inline bool may_begin_request(u32 word, long length)
{
	u8 first = (u8)word;

	if (length >= 4)
		return begins_request(word);
	return first == 'G' || first == 'P' || first == 'H' || first == 'D' || first == 'O';
}

/*
 * Skips the bytes of a request's body, after which the next request may follow. Returns 0 if no body was expected, a positive value
 * if other bytes follow, and a negative value if none do.
 */
static __always_inline s64 body_bytes(u64 key, struct ispan_bytes *bytes)
{
	struct ispan_connection *connection = any_open() ? bpf_map_lookup_elem(&connections, &key) : NULL;
	u64 body = connection ? connection->body : 0;

	if (!body)
		return 0;
	connection->body = bytes->length < body ? body - bytes->length : 0;
	if (bytes->length <= body)
		return -1;
	if (bytes->list) { /* counts as an open request, without its ids */
		head_finished(key, false, false, 0, false);
		return -1;
	}
	bytes->buffer += body;
	bytes->length -= body;
	return 1;
}

static __always_inline bool is_dont_wait(u64 number, u64 third, u64 fourth)
{
	return (number == NR_recvfrom && fourth & MSG_DONTWAIT) || (number == NR_recvmsg && third & MSG_DONTWAIT);
}

/* Called after a read, with the system call's number and arguments. Not static, so that the verifier checks it once. */
__noinline int after_read(u64 number_and_fd, u64 length, u64 second, u64 third, u64 fourth)
{
	struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	u64 connection = connection_of(tgid, (s32)number_and_fd);
	struct ispan_thread *thread = thread_of(task);
	struct ispan_head *unfinished;
	struct ispan_bytes bytes;
	u32 word = 0;
	bool waits, begins, late = false;
	s64 skip;

	if (!settings || tgid == settings->self_tgid ||
	    !bytes_of(number_and_fd >> 32, length, second, third, fourth, &bytes))
		return 0;
	unfinished = unfinished_head(task, connection, &bytes);
	if (!unfinished) {
		if (bpf_probe_read_user(&word, length < 4 ? 1 : 4, (void *)bytes.buffer))
			return 0;
		skip = may_begin_request(word, length) ? 0 : body_bytes(connection, &bytes);
		late = skip && is_late_body(connection, skip > 0);
		if (skip > 0 && bpf_probe_read_user(&word, bytes.length < 4 ? 1 : 4, (void *)bytes.buffer))
			return 0;
		begins = skip >= 0 && may_begin_request(word, bytes.length);
		if (!begins && skip >= 0 && is_message_to_engine(word))
			framed_begins(connection);
		if (!begins || !may_bring_requests(settings, task, (s32)connection)) {
			if (thread && thread->flags & ISPAN_THREAD_LOOP)
				reads_elsewhere(connection, length, late);
			return 0;
		}
		if (!in_scope(settings, tgid))
			return 0;
	}
	waits = !is_dont_wait(number_and_fd >> 32, third, fourth) && does_read_block(task, (s32)connection);
	read_head(&bytes, connection, unfinished, waits);
	thread = late ? thread_of(task) : NULL;
	if (thread && thread->flags & ISPAN_THREAD_LOOP)
		reads_elsewhere(connection, length, true);
	return 0;
}

static __always_inline void after_mmap(const struct ispan_settings *settings, struct pt_regs *regs)
{
	if (settings->flags & ISPAN_EMIT_PROCESSES && ARG3(regs) & PROT_EXEC)
		library_mapped(settings, (s32)ARG5(regs));
}

/* Called after a call that may bring an event loop other work, and whose bytes, if any, cannot begin a request. */
static __always_inline void after_other_work(const struct ispan_settings *settings, s32 fd, u64 bytes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_thread *thread = served_since(settings, task) ? thread_of(task) : NULL;

	if (thread && thread->flags & ISPAN_THREAD_LOOP)
		reads_elsewhere(connection_of(bpf_get_current_pid_tgid() >> 32, fd), bytes, false);
}

/*
 * Called after a wait. While no request is open, most threads are skipped and stay marked as waiting, until their next request
 * clears the mark.
 */
static __always_inline void after_wait(const struct ispan_settings *settings, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool polls = is_epoll(number) || is_poll(number);
	struct ispan_thread *thread = polls || served_since(settings, task) ? thread_of(task) : NULL;

	if (!thread)
		return;
	if (is_epoll(number) || thread->flags & ISPAN_THREAD_IN_LOOP)
		thread->woke_ns = bpf_ktime_get_ns();
	thread->flags &= ~(ISPAN_THREAD_WAITING | ISPAN_THREAD_IN_LOOP);
}

/* Updates the thread's request after a system call. */
static __always_inline void after_call(struct ispan_settings *settings, struct pt_regs *regs, long number, long result)
{
	switch (number) {
	CASE_READS:
		if (result > 0)
			after_read((u64)number << 32 | (u32)ARG1(regs), result, ARG2(regs), ARG3(regs), ARG4(regs));
		else if (!result || result == -ECONNRESET)
			after_other_work(settings, (s32)ARG1(regs), 0);
		break;
	case NR_recvmmsg:
		if (result > 0)
			after_other_work(settings, (s32)ARG1(regs), result);
		break;
	CASE_ACCEPTS:
		if (result < 0)
			break;
		if (any_open())
			connection_gone(connection_of(bpf_get_current_pid_tgid() >> 32, (s32)result));
		after_other_work(settings, (s32)ARG1(regs), 0);
		break;
	CASE_WAITS:
		after_wait(settings, number);
		break;
	case NR_mmap:
		if (result > 0)
			after_mmap(settings, regs);
		break;
	}
}

/* Called after a read or write, whose bytes may end a request. */
static __always_inline void after_bytes(struct pt_regs *regs, long number, long result)
{
	u64 fd = ARG1(regs);

	switch (number) {
	CASE_READS:
		if (is_anything_sampled())
			after_body(connection_of(bpf_get_current_pid_tgid() >> 32, (s32)fd));
		break;
	case NR_splice:
		fd = ARG3(regs);
		/* fall through */
	CASE_WRITES:
		after_write((u64)number << 32 | (u32)fd, result, ARG2(regs), ARG3(regs));
		break;
	}
}

static __always_inline void call_ends(struct ispan_settings *settings, struct pt_regs *regs, long number, long result)
{
	if (IS_NATIVE(regs))
		after_call(settings, regs, number, result);
	syscall_ends(settings, bpf_get_current_task_btf(), regs, number, result);
	if ((number == NR_recvfrom || number == NR_sendto) && result > 0 && IS_NATIVE(regs) && any_framed())
		framed_moved(connection_of(bpf_get_current_pid_tgid() >> 32, (s32)ARG1(regs)), ARG2(regs), result,
			     number == NR_sendto);
	/* Last, because a request may end with these bytes, and the system call still belongs to it. */
	if (IS_NATIVE(regs) && result > 0 && any_open())
		after_bytes(regs, number, result);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(context_sys_exit, struct pt_regs *regs, long result)
{
	struct ispan_settings *settings;
	long number = NUMBER(regs);
	u64 began;

	/* The kernel clears the number after uretprobe. */
	if (number < 0)
		return 0;
	settings = current_settings();
	if (!settings)
		return 0;
	began = run_begins(settings);
	call_ends(settings, regs, number, result);
	run_ends(ISPAN_MEASURED_CONTEXT, began);
	return 0;
}
