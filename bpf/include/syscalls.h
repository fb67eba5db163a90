/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports the system calls that have an owner: a request, or something else to which events are attributed. The programs in
 * context.bpf.c call these functions, because a second pair of programs would double the cost of all system calls of the machine.
 */
#ifndef INFERSPAN_SYSCALLS_H
#define INFERSPAN_SYSCALLS_H

#include "connections.h"
#include "descriptors.h"
#include "folds.h"

/* Returns whether this call is reported. */
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
 * Returns whether this call needs the thread's state: because the call is reported, or because the thread may wait, and the
 * programs for the scheduler cannot create the state. A thread of the reader's process, which publishes its context, gets its state
 * in this way.
 */
static __always_inline bool needs_state(const struct ispan_settings *settings, const struct ispan_thread *thread, u16 kind,
				       long number)
{
	if (!thread && settings->flags & ISPAN_EMIT_SCHED)
		return kind || number == NR_nanosleep || number == NR_clock_nanosleep;
	return kind && settings->flags & ISPAN_EMIT_SYSCALLS;
}

#define OWNER_IS_ANOTHER 1

/*
 * Returns the owner of an operation on a descriptor. If its connection has an open request, that is the request's number, or
 * OWNER_IS_ANOTHER if the request is not traced. Otherwise it is 0: the thread determines the owner. Not static, so that the
 * verifier checks it once.
 */
__noinline u64 owner_of_descriptor(u32 fd)
{
	u64 key = connection_of(bpf_get_current_pid_tgid() >> 32, (s32)fd);
	struct ispan_connection *connection = bpf_map_lookup_elem(&connections, &key);

	if (!connection || ((connection->flags & (OPEN_ANSWERED | OPEN_UNFINISHED)) == OPEN_ANSWERED && !connection->body) ||
	    !is_same_socket(connection, (s32)fd))
		return 0;
	return connection->flags & OPEN_SAMPLED ? connection->number : OWNER_IS_ANOTHER;
}

static __always_inline u64 owner_of(const struct ispan_settings *settings, const struct ispan_thread *thread, u16 kind, u64 fd)
{
	if (kind < ISPAN_KIND_READ || kind > ISPAN_KIND_SEND || !(settings->flags & ISPAN_EMIT_SYSCALLS))
		return 0;
	if (thread && thread->source == ISPAN_SOURCE_CKP)
		return 0;
	if (thread && thread->request && thread->fd == (s32)fd && !(thread->flags & (ISPAN_THREAD_LOOP | ISPAN_THREAD_ALONE)))
		return 0;
	return owner_of_descriptor((u32)fd);
}

/*
 * Remembers a descriptor on which the thread sends data for its request, because a reply may arrive on it. Also called if system
 * calls are not reported. Not static, so that the verifier checks it once.
 */
__noinline int note_touch(u32 fd)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_context context;
	u64 number;

	if (!thread || (thread->request && (s32)fd == thread->fd))
		return 0;
	number = thread->request ? thread->request : sole_request(pid_tgid);
	if (!number || has_touched(thread, number, (s32)fd) || owner_of_descriptor(fd) ||
	    !request_context(thread, pid_tgid >> 32, (u32)pid_tgid, &context))
		return 0;
	if (thread->touched_for != number)
		__builtin_memset(thread->touched, 0, sizeof(thread->touched));
	thread->touched_for = number;
	thread->touched[thread->touches++ & (ISPAN_TOUCHED - 1)] = fd + 1;
	return 0;
}

/*
 * Returns the owner of a system call that begins: the number of its connection's request, 0 if the thread determines the owner, or
 * OWNER_IS_ANOTHER if the call has no owner that is traced. Not static, so that the verifier checks it once.
 */
__noinline u64 owner_of_call(struct ispan_thread *thread, u64 kind, u64 fd)
{
	const struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	u64 owner;

	if (!settings)
		return OWNER_IS_ANOTHER;
	owner = task->tgid == settings->self_tgid ? 0 : owner_of(settings, thread, kind, fd);
	if (owner)
		return owner;
	if (may_have_context(thread, task))
		return 0;
	if (kind)
		count_unattributed(thread, task->tgid);
	return OWNER_IS_ANOTHER;
}

static __always_inline void syscall_begins(const struct ispan_settings *settings, struct task_struct *task,
					   struct ispan_thread *thread, struct pt_regs *regs, long number)
{
	u16 kind = kind_of(number);
	u64 owner;

	if (!needs_state(settings, thread, kind, number))
		return;
	owner = owner_of_call(thread, kind, ARG1(regs));
	if (owner == OWNER_IS_ANOTHER)
		return;
	if (!thread)
		thread = thread_made_of(task);
	if (!thread || !kind || !(settings->flags & ISPAN_EMIT_SYSCALLS) || !is_interesting(kind, regs, thread))
		return;
	thread->syscall = number + 1;
	thread->syscall_owner = owner;
	if (kind == ISPAN_KIND_CLOSE) /* at the end of the call, the descriptor is gone or already reused */
		thread->closed_kind = kind_of_fd((u32)ARG1(regs));
	thread->syscall_start_ns = bpf_ktime_get_ns();
}

/* An ioctl shortly after the start of a CKP operation counts as a part of that operation. */
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

/*
 * Applies the level of detail; returns whether the call was folded or counted. Excludes ioctls, because they may belong to a CKP
 * operation. Not static, so that the verifier checks it once.
 */
__noinline int shed_call(const struct ispan_settings *settings, const struct ispan_record *record)
{
	return settings && record && record->kind != ISPAN_KIND_IOCTL_GPU && shed_event(settings, ISPAN_CLASS_SYSCALLS, record);
}

static __always_inline void emit_call(const struct ispan_settings *settings, struct ispan_thread *thread,
				      struct pt_regs *regs, struct ispan_record *record)
{
	if (record->end_ns - record->start_ns < settings->min_nanos && record->kind != ISPAN_KIND_IOCTL_GPU)
		return;
	if (shed_call(settings, record))
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

/* Fills in the context of a request, if it has not ended. Not static, so that the verifier checks it once. */
__noinline int owner_context(u64 number, struct ispan_context *context)
{
	if (!context || !bpf_map_lookup_elem(&requests, &number))
		return false;
	context->owner = number;
	context->source = ISPAN_SOURCE_CONNECTION;
	return true;
}

/* Not inlined, so that its record does not use stack while heads are read: all functions of a call chain share 512 bytes. */
static __noinline int emit_syscall(const struct ispan_settings *settings, struct ispan_thread *thread,
				   struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_record record = {.start_ns = thread->syscall_start_ns, .end_ns = bpf_ktime_get_ns()};
	struct ispan_context context;
	u16 kind;

	/* A read may have returned the beginning of a request that is not traced. */
	if (!thread->syscall_owner && task->tgid != settings->self_tgid &&
	    owner_of(settings, thread, kind_of(NUMBER(regs)), ARG1(regs)) == OWNER_IS_ANOTHER)
		return 0;
	if (thread->syscall_owner) {
		if (!owner_context(thread->syscall_owner, &context))
			return 0;
	} else if (!context_of_thread(thread, bpf_get_current_pid_tgid(), &context)) {
		return 0;
	}
	kind = kind_of(NUMBER(regs));
	record_fill(&record, &context, (u64)task->tgid << 32 | (u32)task->pid, kind);
	record.result = result > 0x7fffffff ? 0x7fffffff : (s32)result;
	describe(&record, thread, regs, kind, result);
	emit_call(settings, thread, regs, &record);
	return 0;
}

static __always_inline void syscall_ends(const struct ispan_settings *settings, struct task_struct *task,
					 struct pt_regs *regs, long number, long result)
{
	u64 since = served_since(settings, task);
	struct ispan_thread *thread = since ? thread_of(task) : NULL;

	if (!thread || thread->syscall != number + 1 || thread->syscall_start_ns < since)
		return;
	thread->syscall = 0;
	emit_syscall(settings, thread, regs, result);
}

#endif
