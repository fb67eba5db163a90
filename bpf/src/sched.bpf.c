// SPDX-License-Identifier: GPL-2.0-only
/* Reports when a thread with an owner, such as a request, was off the CPU and why, and how long it waited in the run queue. */
#include "folds.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#define PREEMPTED 1

/* Returns the task state with which the thread leaves the CPU; 0 if it was preempted and is still runnable. */
static __always_inline u32 state_left_with(bool preempted, struct task_struct *task)
{
	struct task_struct___before_5_14 {
		long state;
	} __attribute__((preserve_access_index)) *older = (void *)task;

	if (preempted)
		return 0;
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ(older, state);
}

static __always_inline void leaves_cpu(const struct ispan_settings *settings, struct task_struct *task, bool preempted,
				       u64 now)
{
	struct ispan_thread *thread = served_since(settings, task) ? thread_of(task) : NULL;

	if (!thread || !may_have_context(thread, task))
		return;
	thread->off_start_ns = now;
	thread->off_state = state_left_with(preempted, task);
	thread->runnable_ns = thread->off_state ? 0 : now;
}

static __always_inline void emit_delay(const struct ispan_settings *settings, struct ispan_record *record, u64 from,
				       u64 to, u64 detail)
{
	if (!from || to < from || to - from < settings->min_nanos)
		return;
	record->start_ns = from;
	record->end_ns = to;
	record->detail = detail;
	if (!shed_event(settings, ISPAN_CLASS_SCHED, record))
		emit(settings, record);
}

static __always_inline void enters_cpu(const struct ispan_settings *settings, struct task_struct *task, u64 now)
{
	u64 since = served_since(settings, task);
	struct ispan_thread *thread = since ? thread_of(task) : NULL;
	struct ispan_record record = {};
	struct ispan_context context;
	u64 left, runnable;
	u32 state;

	/* The thread may also have run while the program was not attached. */
	if (!thread || thread->off_start_ns < since || thread->off_start_ns < settings->sched_ns)
		return;
	left = thread->off_start_ns;
	state = thread->off_state;
	runnable = thread->runnable_ns;
	thread->off_start_ns = 0;
	if (!context_of(settings, thread, task->tgid, task->pid, &context))
		return;
	record_fill(&record, &context, (u64)task->tgid << 32 | (u32)task->pid, ISPAN_KIND_SCHED_OFFCPU);
	record.extra = thread->syscall_start_ns >= since ? thread->syscall : 0;
	if (state)
		emit_delay(settings, &record, left, runnable ? runnable : now, state);
	record.kind = ISPAN_KIND_SCHED_RUNQUEUE;
	emit_delay(settings, &record, runnable, now, state ? 0 : PREEMPTED);
}

static __always_inline void switch_threads(const struct ispan_settings *settings, bool preempt, struct task_struct *previous,
					   struct task_struct *next)
{
	u64 now;

	if (!served_since(settings, previous) && !served_since(settings, next))
		return;
	now = bpf_ktime_get_ns();
	leaves_cpu(settings, previous, preempt, now);
	enters_cpu(settings, next, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *previous, struct task_struct *next)
{
	struct ispan_settings *settings = current_settings();
	u64 began;

	if (!settings || !(settings->flags & ISPAN_EMIT_SCHED))
		return 0;
	began = run_begins(settings);
	switch_threads(settings, preempt, previous, next);
	run_ends(ISPAN_MEASURED_SCHED, began);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread;
	u64 began;

	if (!settings || !(settings->flags & ISPAN_EMIT_SCHED))
		return 0;
	began = run_begins(settings);
	thread = served_since(settings, task) ? thread_of(task) : NULL;
	if (thread && thread->off_start_ns && !thread->runnable_ns)
		thread->runnable_ns = bpf_ktime_get_ns();
	run_ends(ISPAN_MEASURED_SCHED, began);
	return 0;
}
