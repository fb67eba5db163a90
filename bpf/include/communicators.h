/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers the collectives of each NCCL communicator, so that the same collective can be found on all ranks. Communicators that were
 * created before the probes were attached, or by a function other than ncclCommInitRank and ncclCommInitRankConfig, are unknown.
 */
#ifndef INFERSPAN_COMMUNICATORS_H
#define INFERSPAN_COMMUNICATORS_H

#include "context.h"
#include "operands.h"
#include <bpf/bpf_core_read.h>

/* NCCL hashes chars, whose sign depends on the architecture. */
#if defined(__TARGET_ARCH_arm64)
#define ISPAN_CHAR u8
#else
#define ISPAN_CHAR signed char
#endif

#define NCCL_IN_PROGRESS 7 /* the communicator exists and will be ready later */

struct ispan_communicator_key {
	u64 address;
	u64 tgid;
};

struct ispan_communicator {
	u64 number; /* of the communicator, unique on this machine */
	u64 collectives; /* number of collectives that have begun on this rank */
	u64 process_start; /* start time of the process, because its pid and the address may be reused */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct ispan_communicator_key);
	__type(value, struct ispan_communicator);
} communicators SEC(".maps");

static __always_inline bool is_nccl(u16 kind)
{
	return kind >= ISPAN_KIND_NCCL_ALL_REDUCE;
}

static __always_inline u64 process_start(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), group_leader, start_time);
}

/*
 * Called at the entry of a function with a communicator. Counts collectives, but not sends and receives, which differ between the
 * ranks. Returns the value for the record: ISPAN_COLLECTIVE if the communicator is known, else its address. Not static, so that the
 * verifier checks it once.
 */
__noinline u64 communicator_called(u64 address, u32 kind)
{
	struct ispan_communicator_key key = {.address = address, .tgid = bpf_get_current_pid_tgid() >> 32};
	struct ispan_communicator *found;
	u64 sequence = 0;

	if (kind == ISPAN_KIND_NCCL_COMM_END) {
		bpf_map_delete_elem(&communicators, &key);
		return address;
	}
	found = bpf_map_lookup_elem(&communicators, &key);
	if (!found || found->process_start != process_start())
		return address;
	if (kind <= ISPAN_KIND_NCCL_REDUCE)
		sequence = __sync_fetch_and_add(&found->collectives, 1) + 1;
	return ISPAN_COLLECTIVE(found->number, sequence);
}

/*
 * Computes from an ncclUniqueId the hash by which NCCL itself identifies the communicator. The id contains a network address, so
 * only the hash leaves the kernel. Not static, so that the verifier checks it once.
 */
__noinline u64 communicator_id(u64 address)
{
	u64 hash = 5381;

	/* Reads single words, because a copy of the id would take too much of the stack. */
	for (int at = 0; at < ISPAN_UNIQUE_ID_BYTES; at += sizeof(u64)) {
		u64 word;

		if (bpf_probe_read_user(&word, sizeof(word), (void *)(address + at)))
			return 0;
		for (int i = 0; i < 64; i += 8)
			hash = hash * 33 ^ (u64)(ISPAN_CHAR)(word >> i);
	}
	return hash;
}

/* Returns the address of an ncclUniqueId that is passed by value after two arguments; see ISPAN_RANK. */
static __always_inline u64 unique_id_at(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_arm64)
	return SLOT3(regs);
#else
	return regs->sp + RETURN_BYTES;
#endif
}

/*
 * Reports a new communicator, and counts its collectives from now on. ranks is the number of ranks, with the rank of this process
 * in the upper half. Not static, so that the verifier checks it once.
 */
__noinline int communicator_made(u64 address, u64 id, u64 ranks)
{
	const struct ispan_settings *settings = current_settings();
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_communicator_key key = {.address = address, .tgid = pid_tgid >> 32};
	struct ispan_communicator made = {.process_start = process_start()};
	struct ispan_record record = {.kind = ISPAN_KIND_NCCL_COMMUNICATOR, .amount = ranks, .detail = id};
	struct ispan_activity *activity = activity_now();

	if (!settings || !activity || !address || !id)
		return 0;
	made.number = __sync_fetch_and_add(&activity->communicators, 1) + 1;
	if (bpf_map_update_elem(&communicators, &key, &made, BPF_ANY))
		return 0;
	record.start_ns = record.end_ns = bpf_ktime_get_ns();
	record.tgid = pid_tgid >> 32;
	record.tid = (u32)pid_tgid;
	record.extra = made.number;
	emit(settings, &record);
	return 0;
}

#endif
