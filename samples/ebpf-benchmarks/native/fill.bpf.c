/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills a ring buffer with records like those of the bridge's programs, which describe no real events. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024 * 1024);
} ring SEC(".maps");

struct filling {
	__u64 wanted;
	__u64 made;
};

static long one(__u64 index, void *context)
{
	struct filling *filling = context;
	struct ispan_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record)
		return 1;
	__builtin_memset(record, 0, sizeof(*record));
	record->start_ns = 1000 + index;
	record->end_ns = 2000 + index + index % 7;
	record->owner = 1;
	record->tgid = 7;
	record->tid = 8;
	record->kind = ISPAN_KIND_CUDA_LAUNCH;
	record->source = ISPAN_SOURCE_HTTP;
	record->amount = index;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	filling->made++;
	return 0;
}

SEC("syscall")
int fill(struct filling *context)
{
	struct filling filling = {};
	__u64 wanted = context->wanted;

	bpf_loop(wanted > 8000000 ? 8000000 : wanted, one, &filling, 0);
	context->made = filling.made;
	return 0;
}
