/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the GPU's work by the stack of its launch: how long kernels ran, and why their instructions stalled (PC samples).
 * parcagpu, a library that is loaded into the profiled process, reads both from CUPTI, NVIDIA's profiling interface, and reports
 * them by USDT probes. The stack comes from the bridge's probe on the launch. A launch and its work have the same correlation id of
 * CUPTI.
 */
#ifndef INFERSPAN_DEVICE_H
#define INFERSPAN_DEVICE_H

#include "stack_calls.h"

#if defined(__TARGET_ARCH_arm64)
struct user_pt_regs { /* libbpf uses this name for pt_regs; only its size matters here */
	u64 regs[31];
	u64 sp, pc, pstate;
};
#endif
#define BPF_USDT_MAX_SPEC_CNT 64
#define BPF_USDT_MAX_IP_CNT 1 /* makes a map small that only kernels before 5.15 need: newer ones have attach cookies */
#include <bpf/usdt.bpf.h>

#define NO_REASON ~0ULL
#define REASONS 64
#define REASON_BYTES 64
#define MOST_RECORDS 512
#define REASON_NAMES (1ULL << 62) /* numbers from this one on identify stall reasons instead of functions */
#define SAMPLED_NAMES (1ULL << 63) /* numbers from this one on are computed from a module's hash and a function's number in the module */
#define HASH_PRIME 0x9e3779b97f4a7c15ULL

struct ispan_launch {
	u32 tgid;
	u32 correlation;
};

/* Identifies work of the GPU: a function, and the launch that started it. offset and reason are set for PC samples only. */
struct ispan_work {
	struct ispan_launch launch;
	u64 function;
	u64 offset;
	u64 reason;
};

/* CUpti_PCSamplingPCData: the samples of one instruction. Older versions lack the last field; size tells whether it exists. */
struct ispan_pc_data {
	u64 size;
	u64 module_hash;
	u64 offset;
	u32 function;
	u32 padding;
	u64 name;
	u64 reason_count;
	u64 reasons;
	u32 correlation;
	u32 end;
};

#define WITHOUT_CORRELATION 56

struct ispan_pc_reason {
	u32 reason;
	u32 samples;
};

/* By launch: its stack. A stack with process 0 means that the launch is not counted. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct ispan_launch);
	__type(value, struct ispan_stack);
} device_launches SEC(".maps");

/* By thread: its last launch, if that ended before its correlation id was known. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct ispan_stack);
} last_launches SEC(".maps");

/* Work whose launch is not known yet. Four times a second, the reader takes the entries whose launch has become known. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct ispan_work);
	__type(value, struct ispan_sum);
} device_waiting SEC(".maps");

static __always_inline bool wants_device(u32 tgid)
{
	u32 *wanted = bpf_map_lookup_elem(&stack_targets, &tgid);

	return wanted && *wanted & DEVICE_TOO;
}

static __always_inline bool is_launch(u16 kind)
{
	return kind == ISPAN_KIND_CUDA_LAUNCH || kind == ISPAN_KIND_CUDA_GRAPH_LAUNCH;
}

static __always_inline void remember_launch(const struct ispan_open_call *open, const struct ispan_stack *stack)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_launch launch = {.tgid = pid_tgid >> 32, .correlation = open->correlation};
	u32 tid = (u32)pid_tgid;

	if (!is_launch(open->call.kind) || !wants_device(launch.tgid))
		return;
	if (launch.correlation)
		bpf_map_update_elem(&device_launches, &launch, stack, BPF_ANY);
	else
		bpf_map_update_elem(&last_launches, &tid, stack, BPF_ANY);
}

/* Keeps work until its launch is known. A new entry is inserted with its values, not empty: the reader may take it at once. */
static __always_inline void await_launch(const struct ispan_work *work, u64 count, u64 nanos)
{
	struct ispan_sum first = {.count = count, .nanos = nanos};
	struct ispan_sum *sum;

	if (!bpf_map_update_elem(&device_waiting, work, &first, BPF_NOEXIST))
		return;
	sum = bpf_map_lookup_elem(&device_waiting, work);
	if (!sum) {
		count_lost(LOST_NO_ROOM);
		return;
	}
	__sync_fetch_and_add(&sum->count, count);
	__sync_fetch_and_add(&sum->nanos, nanos);
}

/* Adds work to the stack of its launch. For a PC sample, offset and reason take the place of the stack's kernel frames. */
static __always_inline void count_work(const struct ispan_work *work, u64 count, u64 nanos)
{
	struct ispan_stack *launched = bpf_map_lookup_elem(&device_launches, &work->launch);
	struct ispan_stack stack;

	if (!launched) {
		await_launch(work, count, nanos);
		return;
	}
	if (!launched->tgid)
		return;
	stack = *launched;
	stack.kind = DEVICE;
	stack.function = work->function;
	if (work->reason != NO_REASON) {
		stack.kind = STALL;
		stack.kernel.skipped = 2;
		stack.kernel.first[0] = work->offset;
		stack.kernel.first[1] = work->reason;
	}
	add(&stack, count, nanos, 0);
}

/* Reads a name unless it is known. If the name's page is not in memory, the next report of the name tries again. */
static __always_inline void learn_once(u64 number, u32 tgid, u64 address)
{
	struct ispan_function function = {.number = number, .tgid = tgid};
	struct ispan_function_name *known = bpf_map_lookup_elem(&function_names, &function);

	if (!known || !known->text[0])
		learn_name(number, tgid, address);
}

/*
 * Fires on the launching thread, before the launch function of the CUDA runtime returns. If the runtime is linked statically, the
 * bridge probes only the function of the driver that the runtime calls. That function has already returned.
 */
SEC("usdt")
int BPF_USDT(device_launch, u32 correlation)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_launch launch = {.tgid = pid_tgid >> 32, .correlation = correlation};
	u32 tid = (u32)pid_tgid;
	u64 key = (u64)tid << 1;
	struct ispan_open_call *open;
	struct ispan_stack *last;

	if (!wants_device(launch.tgid))
		return 0;
	open = bpf_map_lookup_elem(&stack_calls, &key);
	if (open && is_launch(open->call.kind)) {
		open->correlation = correlation;
		return 0;
	}
	last = bpf_map_lookup_elem(&last_launches, &tid);
	if (!last)
		return 0;
	bpf_map_update_elem(&device_launches, &launch, last, BPF_ANY);
	bpf_map_delete_elem(&last_launches, &tid);
	return 0;
}

SEC("usdt")
int BPF_USDT(device_executed, u64 start, u64 end, u32 correlation, u32 device, u32 stream, u32 graph, u64 node, u64 name)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct ispan_work work = {.launch = {.tgid = tgid, .correlation = correlation}, .function = name, .reason = NO_REASON};

	if (!wants_device(tgid) || end < start)
		return 0;
	learn_once(name, tgid, name);
	count_work(&work, 1, end - start);
	return 0;
}

struct ispan_reasons {
	u64 at;
	struct ispan_work work;
};

static long count_reason(u32 index, struct ispan_reasons *reasons)
{
	struct ispan_pc_reason reason = {};

	bpf_probe_read_user(&reason, sizeof(reason), (void *)(reasons->at + index * sizeof(reason)));
	reasons->work.reason = reason.reason;
	if (reason.samples && reason.reason < REASONS)
		count_work(&reasons->work, reason.samples, 0);
	return 0;
}

static long count_pc(u32 index, u64 *records)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct ispan_reasons reasons = {};
	struct ispan_pc_data data = {};
	u64 at = 0;

	bpf_probe_read_user(&at, sizeof(at), (void *)(*records + index * sizeof(at)));
	if (!at || bpf_probe_read_user(&data, WITHOUT_CORRELATION, (void *)at))
		return 0;
	if (data.size > WITHOUT_CORRELATION)
		bpf_probe_read_user(&data.correlation, sizeof(data.correlation), (void *)(at + WITHOUT_CORRELATION));
	reasons.at = data.reasons;
	reasons.work.launch.tgid = tgid;
	reasons.work.launch.correlation = data.correlation;
	reasons.work.function = (data.module_hash * HASH_PRIME ^ data.function) | SAMPLED_NAMES;
	reasons.work.offset = data.offset;
	learn_once(reasons.work.function, tgid, data.name);
	bpf_loop(data.reason_count < REASONS ? data.reason_count : REASONS, count_reason, &reasons, 0);
	return 0;
}

SEC("usdt")
int BPF_USDT(device_samples, u64 records, u32 count)
{
	if (wants_device(bpf_get_current_pid_tgid() >> 32))
		bpf_loop(count < MOST_RECORDS ? count : MOST_RECORDS, count_pc, &records, 0);
	return 0;
}

static long learn_reason(u32 index, u64 *names)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	learn_once(REASON_NAMES | index, tgid, *names + index * REASON_BYTES);
	return 0;
}

SEC("usdt")
int BPF_USDT(device_reasons, u64 names, u32 count)
{
	if (wants_device(bpf_get_current_pid_tgid() >> 32))
		bpf_loop(count < REASONS ? count : REASONS, learn_reason, &names, 0);
	return 0;
}

#endif
