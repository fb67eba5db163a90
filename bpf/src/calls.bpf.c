// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports the calls of CUDA and NCCL functions that have an owner, such as the request for which they were made. One program serves
 * all functions; the attach cookie (see calls.h) identifies the function.
 */
#include "communicators.h"
#include "context.h"
#include "frames.h"
#include "kernels.h"
#include "operands.h"
#include "policies.h"
#include "steps.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#define STOP_HERE 1 /* result of a session's entry: skip the return probe */

static __always_inline struct ispan_call cookie_of(struct pt_regs *regs)
{
	union {
		u64 word;
		struct ispan_call call;
	} cookie = {.word = bpf_get_attach_cookie(regs)};

	return cookie.call;
}

static __always_inline bool is_on(const struct ispan_settings *settings, u16 kind)
{
	return settings->flags & (kind < ISPAN_KIND_NCCL_ALL_REDUCE ? ISPAN_EMIT_CUDA : ISPAN_EMIT_NCCL);
}

/* cudaMemcpyKind: 1 host to device, 2 device to host, 3 device to device; 0 and 4 do not determine the direction. */
static __always_inline u16 kind_at_entry(struct ispan_call call, struct pt_regs *regs)
{
	u32 direction = (u32)SLOT4(regs);

	if (call.flags & ISPAN_CALL_DIRECTION && direction >= 1 && direction <= 3)
		return ISPAN_KIND_CUDA_MEMCPY_H2D + direction - 1;
	return call.kind;
}

static __always_inline u32 class_of(u16 kind)
{
	return kind <= ISPAN_KIND_CUDA_GRAPH_LAUNCH ? ISPAN_CLASS_LAUNCHES : ISPAN_CLASS_CALLS;
}

static __always_inline bool owner_of_call(struct ispan_thread *thread, struct task_struct *task, u16 kind,
					  struct ispan_context *context)
{
	if (!context_of_thread(thread, (u64)task->tgid << 32 | (u32)task->pid, context)) {
		context->owner = step_waited_for(task->tgid, kind);
		context->source = ISPAN_SOURCE_CKP;
	}
	return context->owner;
}

static __always_inline bool are_launches_counted(const struct ispan_settings *settings, struct ispan_call call)
{
	return class_of(call.kind) == ISPAN_CLASS_LAUNCHES && settings->levels[ISPAN_CLASS_LAUNCHES] >= ISPAN_LEVEL_COUNTED;
}

/*
 * Counts a launch of a thread that has reported a step; returns false for other threads. The end of the step reports the number of
 * its launches.
 */
static __always_inline bool count_launch_in_step(struct ispan_thread *thread)
{
	if (!thread->in_step || thread->source != ISPAN_SOURCE_CKP)
		return false;
	thread->launches++;
	count(ISPAN_COUNT_SHED + ISPAN_CLASS_LAUNCHES);
	return true;
}

/*
 * Counts a launch at its entry, if launches are only counted. This saves the trap at the return. Returns false if the return must be
 * probed. A call of the CUDA runtime is not counted, because the driver call that it makes is. The returns of a thread's runtime calls
 * are probed until one of them is known to have called the driver.
 */
static __always_inline bool count_launch(const struct ispan_settings *settings, struct ispan_thread *thread, struct task_struct *task,
					 struct ispan_call call)
{
	struct ispan_context context;
	struct ispan_record record = {.kind = call.kind};

	if (!are_launches_counted(settings, call))
		return false;
	if (call.flags & ISPAN_CALL_RUNTIME)
		return thread->drives;
	cover_runtime(thread, thread->depth, call.kind);
	if (count_launch_in_step(thread) || !owner_of_call(thread, task, call.kind, &context))
		return true;
	record_fill(&record, &context, (u64)task->tgid << 32 | (u32)task->pid, call.kind);
	record.start_ns = record.end_ns = bpf_ktime_get_ns();
	if (!add_to_fold(&record, true, 0))
		return false;
	count(ISPAN_COUNT_SHED + ISPAN_CLASS_LAUNCHES);
	thread->launches++;
	return true;
}

/*
 * Returns whether this call creates a communicator. Such calls are also observed while no request is open or events of NCCL are
 * off, because engines create communicators before they serve. Not static, so that the verifier checks it once.
 */
__noinline int creates_communicator(u32 kind)
{
	const struct ispan_settings *settings = current_settings();

	return settings && kind == ISPAN_KIND_NCCL_COMM_INIT && in_scope(settings, bpf_get_current_pid_tgid() >> 32);
}

/*
 * Returns the value for the record that identifies the call's communicator, or 0 for a call without one. Not static, so that the
 * verifier checks it once.
 */
__noinline u64 communicator_of(const struct ispan_arguments *arguments, u32 from, u32 kind)
{
	if (!arguments || kind == ISPAN_KIND_NCCL_COMM_INIT || !is_nccl(kind) || !from)
		return 0;
	return communicator_called(operand(arguments, from), kind);
}

static __always_inline int call_begins(const struct ispan_settings *settings, struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_arguments arguments;
	struct ispan_thread *thread;
	struct ispan_frame *frame;
	struct ispan_call call = cookie_of(regs);
	bool creates = creates_communicator(call.kind);
	u64 communicator = 0;
	u32 depth;

	read_arguments(regs, &arguments);
	if (is_nccl(call.kind))
		communicator = communicator_of(&arguments, call.extra, call.kind);
	/* Most calls of most threads end here, so the code above must be cheap. */
	if (!creates && !served_since(settings, task) && !engine_of(task->tgid))
		return STOP_HERE;
	thread = thread_of(task);
	if (are_launches_counted(settings, call) && thread && !thread->depth && !(call.flags & ISPAN_CALL_RUNTIME) &&
	    count_launch_in_step(thread))
		return STOP_HERE;
	if (!creates && !may_have_context(thread, task) && !step_waited_for(task->tgid, call.kind)) {
		count_unattributed(thread, task->tgid);
		return STOP_HERE;
	}
	if ((!creates && !is_on(settings, call.kind)) || call.kind == ISPAN_KIND_NCCL_COMM_END)
		return STOP_HERE;
	if (!thread)
		thread = thread_made_of(task);
	if (!thread)
		return STOP_HERE;
	drop_dead_frames(settings, thread, regs->sp);
	if (count_launch(settings, thread, task, call))
		return STOP_HERE;
	depth = thread->depth;
	barrier_var(depth); /* see cover_runtime */
	if (depth >= ISPAN_FRAMES) {
		count(ISPAN_COUNT_CALL_TOO_DEEP);
		return STOP_HERE;
	}
	frame = &thread->frames[depth];
	thread->depth = depth + 1;
	thread->covered &= ~(1 << depth);
	call.kind = kind_at_entry(call, regs);
	frame->call = call;
	frame->sp = regs->sp;
	frame->amount = operand_of(&arguments, call.amount) << (call.shift & 63);
	frame->detail = operand_of(&arguments, call.detail);
	frame->extra = communicator ? communicator : operand_of(&arguments, call.extra);
	if (call.kind == ISPAN_KIND_NCCL_COMM_INIT) {
		frame->amount = (u32)frame->amount | frame->detail << 32;
		frame->detail = communicator_id(unique_id_at(regs));
	}
	frame->start_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void write_call(struct ispan_record *record, struct task_struct *task,
				       const struct ispan_context *context, const struct ispan_frame *frame, u16 kind)
{
	record_fill(record, context, (u64)task->tgid << 32 | (u32)task->pid, kind);
	record->start_ns = frame->start_ns;
	record->flags = 0;
	record->amount = frame->amount;
	record->detail = frame->detail;
	record->extra = frame->extra;
}

/* Writes the record directly into the ring, because each copy would cost time of the observed thread. */
static __always_inline void emit_call(const struct ispan_settings *settings, struct task_struct *task,
				      const struct ispan_context *context, const struct ispan_frame *frame, u16 kind,
				      u64 now, s32 result)
{
	u64 produced;
	struct ispan_record *record = reserve_record(kind, &produced);

	if (!record)
		return;
	write_call(record, task, context, frame, kind);
	record->end_ns = now;
	record->result = result;
	bpf_ringbuf_submit(record, wakeup_flags(settings, produced));
}

static __always_inline int call_ends(const struct ispan_settings *settings, struct pt_regs *regs, u64 run_began)
{
	u64 now = bpf_ktime_get_ns();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_thread *thread = thread_of(task);
	struct ispan_frame *frame = thread ? frame_of_return(thread, regs->sp) : NULL;
	struct ispan_context context;
	u16 kind;

	if (!frame)
		return 0;
	if (frame->call.kind == ISPAN_KIND_NCCL_COMM_INIT) {
		if (!RESULT(regs) || RESULT(regs) == NCCL_IN_PROGRESS)
			communicator_made(word_at(frame->extra), frame->detail, frame->amount);
		frame->detail = frame->amount >> 32;
		frame->amount = (u32)frame->amount;
		if (!is_on(settings, ISPAN_KIND_NCCL_COMM_INIT))
			return 0;
	}
	if (frame->start_ns < settings->attached_ns)
		return 0;
	/* This code precedes the branches, because otherwise the verifier would check it once for each branch. */
	if (is_out(frame->call.detail))
		frame->detail = word_at(frame->detail);
	if (is_out(frame->call.extra))
		frame->extra = word_at(frame->extra);
	kind = frame->call.kind;
	if (kind == ISPAN_KIND_CUDA_KERNEL)
		return RESULT(regs) ? 0 : kernel_read(frame->extra);
	if (!owner_of_call(thread, task, kind, &context))
		return 0;
	if (!(frame->call.flags & ISPAN_CALL_RUNTIME)) {
		kind = cover_runtime(thread, thread->depth, kind);
	} else if (thread->covered & 1 << (thread->depth & 7)) {
		thread->drives = 1;
		count(ISPAN_COUNT_CALL_TWICE);
		return 0;
	}
	if (kind <= ISPAN_KIND_CUDA_GRAPH_LAUNCH)
		thread->launches++;
	if (settings->policy_floor || settings->levels[class_of(kind)]) {
		struct ispan_judged *call = judged_call(task);

		if (call) {
			struct ispan_record *record = &call->record;

			write_call(record, task, &context, frame, kind);
			record->end_ns = now;
			record->result = RESULT(regs);
			call->run_began = run_began;
			if (!has_failed(record) && shed_event(settings, class_of(kind), record))
				return 0;
			if (is_judged(settings, kind))
				run_policy(regs, task, record);
			emit_judged(settings, record, settings->policy_now);
			return 0;
		}
	}
	emit_call(settings, task, &context, frame, kind, now, RESULT(regs));
	return 0;
}

extern bool bpf_session_is_return(void) __weak __ksym;

static __always_inline int measured_call(struct pt_regs *regs, bool returns)
{
	struct ispan_settings *settings = current_settings();
	u64 began;
	int how;

	if (!settings)
		return STOP_HERE;
	began = run_begins(settings);
	how = returns ? call_ends(settings, regs, began) : call_begins(settings, regs);
	run_ends(returns ? ISPAN_MEASURED_RETURNS : ISPAN_MEASURED_CALLS, began);
	return how;
}

/* For session probes, which fire at entry and return. Kernels with session probes have bpf_session_is_return. */
SEC("uprobe")
int call_session(struct pt_regs *regs)
{
	return measured_call(regs, bpf_session_is_return());
}

SEC("uprobe")
int call_enter(struct pt_regs *regs)
{
	measured_call(regs, false);
	return 0;
}

SEC("uretprobe")
int call_return(struct pt_regs *regs)
{
	measured_call(regs, true);
	return 0;
}

static __always_inline void follow_policy(const struct ispan_settings *settings, const struct ispan_record *record,
					  const struct ispan_policy_call *call)
{
	if (call->answer != ISPAN_KEEP && !has_failed(record) &&
	    add_to_fold(record, call->answer == ISPAN_DROP, call->generation)) {
		count(call->answer == ISPAN_DROP ? ISPAN_COUNT_POLICY_DROPPED : ISPAN_COUNT_POLICY_FOLDED);
		return;
	}
	count(ISPAN_COUNT_POLICY_KEPT);
	emit_judged(settings, record, call->generation);
}

/* The policy tail-calls this program, which writes, folds or drops the call. */
SEC("uprobe")
int call_judged(struct pt_regs *regs)
{
	const struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_judged *judgement = bpf_task_storage_get(&judged, task, NULL, 0);
	struct ispan_policy_call *call = bpf_task_storage_get(&policy_calls, task, NULL, 0);

	if (!settings || !judgement || !call)
		return 0;
	follow_policy(settings, &judgement->record, call);
	run_ends(ISPAN_MEASURED_RETURNS, judgement->run_began);
	return 0;
}
