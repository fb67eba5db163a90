// SPDX-License-Identifier: GPL-2.0-only
/*
 * Observes processes during their start. Samples their stacks by a timer. Reports long waits, with the thread that ended each of them,
 * and when sockets begin to listen.
 */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

#define FRAMES 64
#define LONG_WAIT_NANOS 1000000
#define SAMPLE 1
#define WAKE 2
#define LISTEN 3
#define TCP_LISTEN 10

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 8192);
	__uint(key_size, sizeof(u32));
	__uint(value_size, FRAMES * sizeof(u64));
} start_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} start_events SEC(".maps");

/* Observed processes, and their children. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, u32);
} start_targets SEC(".maps");

/* By thread: when it left its CPU. A thread that ends leaves its entry, which is evicted when the map is full. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u64);
} start_waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} start_losses SEC(".maps");

static __always_inline bool is_target(u32 tgid)
{
	return bpf_map_lookup_elem(&start_targets, &tgid);
}

static __always_inline void count_lost(void)
{
	u32 zero = 0;
	u64 *lost = bpf_map_lookup_elem(&start_losses, &zero);

	if (lost)
		(*lost)++;
}

/*
 * Writes an event of the current thread. The field detail has the keys of the thread's user and kernel stack (negative: none), and
 * extra has the process and the thread that it woke.
 */
static __always_inline void emit(void *ctx, u16 kind, u64 since, u64 now, u64 woken)
{
	struct ispan_text_record *record = bpf_ringbuf_reserve(&start_events, sizeof(*record), 0);
	u64 pid_tgid = bpf_get_current_pid_tgid();

	if (!record) {
		count_lost();
		return;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->record.start_ns = since;
	record->record.end_ns = now;
	record->record.tgid = pid_tgid >> 32;
	record->record.tid = (u32)pid_tgid;
	record->record.kind = kind;
	record->record.detail = (u64)(u32)bpf_get_stackid(ctx, &start_stacks, BPF_F_USER_STACK) << 32 |
				(u32)bpf_get_stackid(ctx, &start_stacks, 0);
	record->record.extra = woken;
	bpf_get_current_comm(record->text, 16);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("perf_event")
int start_sample(void *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	u64 now = bpf_ktime_get_ns();

	if (tgid && is_target(tgid))
		emit(ctx, SAMPLE, now, now, 0);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(start_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 tgid = child->tgid, one = 1;

	if (tgid != parent->tgid && is_target(parent->tgid))
		bpf_map_update_elem(&start_targets, &tgid, &one, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(start_exit, struct task_struct *task)
{
	u32 tgid = task->tgid;

	/* After its last thread, the process is forgotten, because its id may be reused. */
	if (!BPF_CORE_READ(task, signal, live.counter))
		bpf_map_delete_elem(&start_targets, &tgid);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(start_switch, bool preempt, struct task_struct *previous)
{
	u32 tid = previous->pid;
	u64 now;

	if (preempt || !tid || !is_target(previous->tgid))
		return 0;
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&start_waits, &tid, &now, BPF_ANY);
	return 0;
}

/* Runs in the waking thread. In an interrupt, the current thread is arbitrary; the idle thread (0) is ignored. */
SEC("tp_btf/sched_waking")
int BPF_PROG(start_waking, struct task_struct *task)
{
	u32 tid = task->pid;
	u64 *since = bpf_map_lookup_elem(&start_waits, &tid);
	u64 now = bpf_ktime_get_ns(), left;

	if (!since)
		return 0;
	left = *since;
	bpf_map_delete_elem(&start_waits, &tid);
	if (bpf_get_current_pid_tgid() && now - left >= LONG_WAIT_NANOS)
		emit(ctx, WAKE, left, now, (u64)task->tgid << 32 | tid);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(start_listen, const struct sock *sk, int old, int state)
{
	u64 now;

	if (state != TCP_LISTEN || !is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	now = bpf_ktime_get_ns();
	emit(ctx, LISTEN, now, now, 0);
	return 0;
}
