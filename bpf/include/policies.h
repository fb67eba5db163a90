/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the capture policy for a call of CUDA or NCCL, and applies its decision: the call is kept (written), folded (added to the
 * sums of its owner and kind) or dropped (only counted). A policy includes inferspan_policy.h.
 */
#ifndef INFERSPAN_POLICIES_H
#define INFERSPAN_POLICIES_H

#include "folds.h"
#include "inferspan_policy.h"

#define CUDA_NOT_READY 600
#define NCCL_IN_PROGRESS 7

/* The call as it will be written, and when the run of the calling program began. The policy cannot access this map. */
struct ispan_judged {
	struct ispan_record record;
	u64 run_began;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ispan_judged);
} judged SEC(".maps");

/*
 * Returns whether the policy decides. Of each kind, one call in policy_floor is kept without asking the policy, so
 * that a policy cannot hide all calls of a kind.
 */
static __always_inline bool is_judged(const struct ispan_settings *settings, u16 kind)
{
	return settings->policy_floor &&
	       count(ISPAN_COUNT_JUDGED + (kind & (ISPAN_POLICY_ROWS - 1))) % settings->policy_floor;
}

/* Returns the thread's entry for the call. Returns NULL if there is no memory; then the call is written without a decision. */
static __always_inline struct ispan_judged *judged_call(struct task_struct *task)
{
	return bpf_task_storage_get(&judged, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Makes a tail call to the profiler or the policy. Returns only if neither is loaded, or if there is no memory for the call. */
static __always_inline void run_policy(struct pt_regs *regs, struct task_struct *task, const struct ispan_record *record)
{
	struct ispan_policy_call *call = bpf_task_storage_get(&policy_calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct ispan_request *request;

	if (!call)
		return;
	call->record = *record;
	call->began_ns = 0;
	call->is_answered = 0;
	call->answer = ISPAN_KEEP;
	call->generation = 0;
	request = bpf_map_lookup_elem(&requests, &record->owner);
	if (request) {
		call->began_ns = request->began_ns;
		call->is_answered = !!(request->flags & ISPAN_REQUEST_RESPONDED);
	}
	bpf_tail_call(regs, &policies, ISPAN_SLOT_PROFILER);
	bpf_tail_call(regs, &policies, ISPAN_SLOT_POLICY);
}

static __always_inline bool has_failed(const struct ispan_record *record)
{
	if (record->kind < ISPAN_KIND_NCCL_ALL_REDUCE)
		return record->result && record->result != CUDA_NOT_READY;
	return record->result && record->result != NCCL_IN_PROGRESS;
}

/* Writes a call while a policy is loaded or the class has less than full detail. */
static __always_inline void emit_judged(const struct ispan_settings *settings, const struct ispan_record *record, u32 generation)
{
	u64 produced;
	struct ispan_judged_record *room = reserve_bytes(sizeof(*room), record->kind, &produced);

	if (!room)
		return;
	room->record = *record;
	room->generation = generation;
	room->reserved = 0;
	bpf_ringbuf_submit(room, wakeup_flags(settings, produced));
}

#endif
