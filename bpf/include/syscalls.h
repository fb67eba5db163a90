/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which system calls did a request wait for? Asked by the programs that find out whom a thread serves: a second program
 * at each end would cost every system call of the machine as much again.
 */
#ifndef INFERSPAN_SYSCALLS_H
#define INFERSPAN_SYSCALLS_H

#include "context.h"
#include "descriptors.h"

/* Whether this call of the kind is one that is told of. */
static __always_inline bool is_interesting(u16 kind, struct pt_regs *regs, const struct ispan_thread *thread)
{
	switch (kind) {
	case ISPAN_KIND_FUTEX:
		return NUMBER(regs) != NR_futex || is_futex_wait(ARG2(regs));
	case ISPAN_KIND_IOCTL_GPU:
		return is_gpu_command(ARG2(regs)) || (thread && thread->operation_ns);
	default:
		return true;
	}
}

/*
 * The scheduler's programs cannot make a thread's record where they run, so that one is made before the thread first waits:
 * threads whose context was published for them have none otherwise.
 */
static __always_inline bool may_matter(const struct ispan_settings *settings, const struct ispan_thread *thread, u16 kind,
				       long number)
{
	if (!thread && settings->flags & ISPAN_EMIT_SCHED)
		return kind || number == NR_nanosleep || number == NR_clock_nanosleep;
	return kind && settings->flags & ISPAN_EMIT_SYSCALLS;
}

static __always_inline void syscall_begins(const struct ispan_settings *settings, struct task_struct *task,
					   struct ispan_thread *thread, struct pt_regs *regs, long number)
{
	u16 kind = kind_of(number);

	if (!may_matter(settings, thread, kind, number) || !may_have_context(settings, thread, task))
		return;
	if (!thread)
		thread = thread_made_of(task);
	if (!thread || !kind || !(settings->flags & ISPAN_EMIT_SYSCALLS) || !is_interesting(kind, regs, thread))
		return;
	thread->syscall = number + 1;
	if (kind == ISPAN_KIND_CLOSE) /* at the end there is nothing, or already another's */
		thread->closed_kind = kind_of_fd((u32)ARG1(regs));
	thread->syscall_start_ns = bpf_ktime_get_ns();
}

/* An ioctl that soon follows a CKP operation's begin is taken to be the operation's way to its device. */
static __always_inline void emit_ckp_ioctl(const struct ispan_settings *settings, struct ispan_thread *thread,
					   struct ispan_record *record)
{
	u64 begun = thread->operation_ns;

	thread->operation_ns = 0;
	if (!(settings->flags & ISPAN_EMIT_CKP) || record->start_ns - begun > CKP_WINDOW_NANOS)
		return;
	record->kind = ISPAN_KIND_CKP_IOCTL;
	record->extra = thread->operation;
	emit(settings, record);
}

static __always_inline void emit_call(const struct ispan_settings *settings, struct ispan_thread *thread,
				      struct pt_regs *regs, struct ispan_record *record)
{
	if (record->end_ns - record->start_ns < settings->min_nanos && record->kind != ISPAN_KIND_IOCTL_GPU)
		return;
	switch (record->kind) {
	case ISPAN_KIND_OPENAT:
		emit_text(settings, record, (void *)path_of(regs), TEXT_USER);
		break;
	case ISPAN_KIND_IOCTL_GPU:
		if (is_gpu_command(record->detail) && is_gpu_file(bpf_get_current_task_btf(), (s32)ARG1(regs)))
			emit(settings, record);
		if (thread->operation_ns)
			emit_ckp_ioctl(settings, thread, record);
		break;
	default:
		emit(settings, record);
	}
}

static __always_inline void syscall_ends(const struct ispan_settings *settings, struct task_struct *task,
					 struct pt_regs *regs, long number, long result)
{
	u64 since = served_since(settings, task);
	struct ispan_thread *thread = since ? thread_of(task) : NULL;
	struct ispan_record record = {};
	struct ispan_context context;
	u16 kind;

	if (!thread || thread->syscall != number + 1 || thread->syscall_start_ns < since)
		return;
	record.start_ns = thread->syscall_start_ns;
	record.end_ns = bpf_ktime_get_ns();
	thread->syscall = 0;
	if (!context_of(settings, thread, task->tgid, task->pid, &context))
		return;
	kind = kind_of(number);
	record_fill(&record, &context, (u64)task->tgid << 32 | (u32)task->pid, kind);
	record.result = result > 0x7fffffff ? 0x7fffffff : (s32)result;
	describe(&record, thread, regs, kind, result);
	emit_call(settings, thread, regs, &record);
}

#endif
