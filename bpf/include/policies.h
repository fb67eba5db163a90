/* SPDX-License-Identifier: GPL-2.0-only */
/* Asking a policy about a call, and doing what it answers. */
#ifndef INFERSPAN_POLICIES_H
#define INFERSPAN_POLICIES_H

#include "context.h"
#include "inferspan_policy.h"

#define CUDA_NOT_READY 600
#define NCCL_IN_PROGRESS 7
#define RAISES 4

/* The call as it will be written, out of the policy's reach. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ispan_record);
} judged SEC(".maps");

struct ispan_fold_key {
	u64 owner;
	u64 kind;
};

/* What an owner's calls of a kind add up to that were not kept. The reader takes it and removes it once it rests. */
struct ispan_fold {
	u64 count;
	u64 dropped;
	u64 sum_ns;
	u64 least_left; /* ~ of the shortest */
	u64 most_ns;
	u64 amount;
	u64 first_ns;
	u64 last_ns;
	u32 tgid;
	u32 tid;
	u32 source;
	u32 generation;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct ispan_fold_key);
	__type(value, struct ispan_fold);
} folds SEC(".maps");

/* Whether the policy decides; else the call is kept, so that no policy can hide a kind. */
static __always_inline bool is_judged(const struct ispan_settings *settings, u16 kind)
{
	return settings->policy_floor &&
	       count(ISPAN_COUNT_JUDGED + (kind & (ISPAN_POLICY_ROWS - 1))) % settings->policy_floor;
}

/* Room for the call, or NULL: then it is written at once. */
static __always_inline struct ispan_record *judged_record(struct task_struct *task)
{
	return bpf_task_storage_get(&judged, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Returns only where neither a profiler nor a policy is loaded, or there is no memory. */
static __always_inline void ask(struct pt_regs *regs, struct task_struct *task, const struct ispan_record *record)
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

/* Several threads may have the same owner. */
static __always_inline void raise(u64 *most, u64 value)
{
	for (int i = 0; i < RAISES; i++) {
		u64 was = *most;

		if (was >= value || __sync_val_compare_and_swap(most, was, value) == was)
			return;
	}
}

static __always_inline struct ispan_fold *fold_of(const struct ispan_record *record)
{
	struct ispan_fold_key key = {.owner = record->owner, .kind = record->kind};
	struct ispan_fold *fold = bpf_map_lookup_elem(&folds, &key);
	struct ispan_fold begun = {};

	if (fold)
		return fold;
	begun.first_ns = record->start_ns;
	begun.tgid = record->tgid;
	begun.tid = record->tid;
	begun.source = record->source;
	bpf_map_update_elem(&folds, &key, &begun, BPF_NOEXIST);
	return bpf_map_lookup_elem(&folds, &key);
}

/* Says false where there is no room: then the call is kept. */
static __always_inline bool is_added(const struct ispan_record *record, const struct ispan_policy_call *call)
{
	u64 nanos = record->end_ns - record->start_ns;
	struct ispan_fold *fold = fold_of(record);

	if (!fold)
		return false;
	raise(&fold->last_ns, record->end_ns);
	fold->generation = call->generation;
	if (call->answer == ISPAN_DROP) {
		__sync_fetch_and_add(&fold->dropped, 1);
		count(ISPAN_COUNT_POLICY_DROPPED);
		return true;
	}
	__sync_fetch_and_add(&fold->sum_ns, nanos);
	__sync_fetch_and_add(&fold->amount, record->amount);
	raise(&fold->most_ns, nanos);
	raise(&fold->least_left, ~nanos);
	__sync_fetch_and_add(&fold->count, 1);
	count(ISPAN_COUNT_POLICY_FOLDED);
	return true;
}

/* What a policy kept. */
static __always_inline void emit_judged(const struct ispan_settings *settings, const struct ispan_record *record, u32 generation)
{
	u64 produced;
	struct ispan_judged_record *room = room_of(sizeof(*room), record->kind, &produced);

	if (!room)
		return;
	room->record = *record;
	room->generation = generation;
	room->reserved = 0;
	bpf_ringbuf_submit(room, wakeup_flags(settings, produced));
}

#endif
