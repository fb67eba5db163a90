// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whom does this thread serve, and which system calls did it wait for? Requests recognised in the bytes a thread reads,
 * until they are answered.
 */
#include "binding.h"
#include "libraries.h"
#include "serving.h"
#include "syscalls.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

/* What the system call says of the thread's request, before it is made. */
static __always_inline void before_call(struct ispan_thread *thread, struct pt_regs *regs, long number)
{
	switch (number) {
	CASE_READS:
		if ((s32)ARG1(regs) == thread->fd)
			reads_own_connection();
		break;
	CASE_WAITS:
		before_wait(number, regs->sp, ARG1(regs), ARG2(regs));
		break;
	CASE_ACCEPTS:
		before_accept(thread);
		break;
	CASE_WRITES:
	case NR_splice:
		before_write(thread, regs, number);
		break;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(context_sys_enter, struct pt_regs *regs, long number)
{
	struct ispan_settings *settings;
	struct ispan_thread *thread;
	struct task_struct *task;

	/* So does every function return that somebody probes, ourselves included. */
	if (number == NR_uretprobe)
		return 0;
	settings = current_settings();
	if (!settings || !IS_NATIVE(regs))
		return 0;
	if (number == NR_close)
		connection_gone(settings, (s32)ARG1(regs));
	task = bpf_get_current_task_btf();
	if (!served_since(settings, task))
		return 0;
	thread = thread_of(task);
	if (thread && thread->request)
		before_call(thread, regs, number);
	if (settings->flags & (ISPAN_EMIT_SYSCALLS | ISPAN_EMIT_SCHED))
		syscall_begins(settings, task, thread, regs, number);
	return 0;
}

/* First bytes of too short a read: the request may begin with them, and go on in the next. */
static __always_inline bool may_begin_request(u32 word, long length)
{
	u8 first = (u8)word;

	if (length >= 4)
		return begins_request(word);
	return first == 'G' || first == 'P' || first == 'H' || first == 'D' || first == 'O';
}

/* By the system call's number and arguments. Not static, so that the verifier does not read it for each of them. */
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

	if (!settings || tgid == settings->self_tgid ||
	    !bytes_of(number_and_fd >> 32, length, second, third, fourth, &bytes))
		return 0;
	unfinished = unfinished_head(thread, connection, &bytes);
	if (!unfinished) {
		if (bpf_probe_read_user(&word, length < 4 ? 1 : 4, (void *)bytes.buffer))
			return 0;
		if (!may_begin_request(word, length) || !in_scope(settings, tgid) || !is_stream_socket(task, (s32)connection))
			return 0;
	}
	read_head(settings, task, &bytes, connection, unfinished);
	return 0;
}

static __always_inline void after_mmap(const struct ispan_settings *settings, struct pt_regs *regs)
{
	if (settings->flags & ISPAN_EMIT_PROCESSES && ARG3(regs) & PROT_EXEC)
		library_mapped(settings, bpf_get_current_task_btf(), (s32)ARG5(regs));
}

/* Where nobody is served the mark may stay: a request that begins takes it away. */
static __always_inline void after_wait(const struct ispan_settings *settings)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_thread *thread = served_since(settings, task) ? thread_of(task) : NULL;

	if (thread)
		thread->flags &= ~ISPAN_THREAD_WAITING;
}

/* What it says of the thread's request once it is made. */
static __always_inline void after_call(struct ispan_settings *settings, struct pt_regs *regs, long number, long result)
{
	switch (number) {
	CASE_READS:
		if (result > 0)
			after_read((u64)number << 32 | (u32)ARG1(regs), result, ARG2(regs), ARG3(regs), ARG4(regs));
		break;
	CASE_ACCEPTS:
		if (result >= 0)
			connection_gone(settings, (s32)result);
		break;
	CASE_WAITS:
		after_wait(settings);
		break;
	case NR_mmap:
		if (result > 0)
			after_mmap(settings, regs);
		break;
	}
}

SEC("tp_btf/sys_exit")
int BPF_PROG(context_sys_exit, struct pt_regs *regs, long result)
{
	struct ispan_settings *settings;
	long number = NUMBER(regs);

	/* The kernel takes the number away when a probed function returned. */
	if (number < 0)
		return 0;
	settings = current_settings();
	if (!settings)
		return 0;
	if (IS_NATIVE(regs))
		after_call(settings, regs, number, result);
	syscall_ends(settings, bpf_get_current_task_btf(), regs, number, result);
	return 0;
}
