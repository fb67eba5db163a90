/* SPDX-License-Identifier: GPL-2.0-only */
/* The smallest programs for a session probe, to measure its minimum cost: one does nothing, the other one writes a record. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

extern bool bpf_session_is_return(void) __ksym;
extern __u64 *bpf_session_cookie(void) __ksym;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

SEC("uprobe")
int nothing(void *regs)
{
	return 0;
}

/* Stores the time at the entry, and writes a record without an owner at the return. A reader must empty the ring buffer meanwhile. */
SEC("uprobe")
int record(void *regs)
{
	__u64 *start = bpf_session_cookie();
	struct ispan_record *record;

	if (!bpf_session_is_return()) {
		*start = bpf_ktime_get_ns();
		return 0;
	}
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record)
		return 0;
	__builtin_memset(record, 0, sizeof(*record));
	record->start_ns = *start;
	record->end_ns = bpf_ktime_get_ns();
	record->kind = ISPAN_KIND_CUDA_LAUNCH;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}
