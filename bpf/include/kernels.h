/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports when the GPU ran an engine's kernels, from the records of CUPTI, NVIDIA's profiling interface, that a profiler in the
 * engine's process reads.
 */
#ifndef INFERSPAN_KERNELS_H
#define INFERSPAN_KERNELS_H

#include "steps.h"

#define ACTIVITY_KERNEL 3
#define ACTIVITY_CONCURRENT_KERNEL 10

/*
 * The first fields of a CUPTI kernel record, which are the same from CUpti_ActivityKernel3 (CUDA 6.5) to CUpti_ActivityKernel10
 * (CUDA 13).
 */
struct ispan_activity_kernel {
	u32 kind;
	u32 settings[3];
	u64 start; /* 0 if it was not measured */
	u64 end;
	u64 completed;
	u32 device[3];
	u32 launched[9]; /* grid, block, memory */
	u32 local_memory;
	u32 correlation;
};

_Static_assert(__builtin_offsetof(struct ispan_activity_kernel, start) == 16, "start");
_Static_assert(__builtin_offsetof(struct ispan_activity_kernel, correlation) == 92, "correlation");

/* Called after the profiler has got a record from CUPTI. Not static, so that the verifier checks it once. */
__noinline int kernel_read(u64 address)
{
	const struct ispan_settings *settings = current_settings();
	u64 pid_tgid = bpf_get_current_pid_tgid(), produced, times[2];
	struct ispan_activity_kernel *at = (void *)address;
	struct ispan_record *record;
	u32 kind = 0, correlation;

	if (!settings || !engine_of(pid_tgid >> 32) || bpf_probe_read_user(&kind, sizeof(kind), &at->kind) ||
	    (kind != ACTIVITY_KERNEL && kind != ACTIVITY_CONCURRENT_KERNEL) || bpf_probe_read_user(times, sizeof(times), &at->start) ||
	    bpf_probe_read_user(&correlation, sizeof(correlation), &at->correlation))
		return 0;
	record = reserve_record(ISPAN_KIND_CUDA_KERNEL, &produced);
	if (!record)
		return 0;
	__builtin_memset(record, 0, sizeof(*record));
	record->start_ns = record->end_ns = bpf_ktime_get_ns();
	record->tgid = pid_tgid >> 32;
	record->tid = (u32)pid_tgid;
	record->kind = ISPAN_KIND_CUDA_KERNEL;
	record->amount = times[0];
	record->detail = times[1];
	record->extra = correlation;
	bpf_ringbuf_submit(record, wakeup_flags(settings, produced));
	return 0;
}

#endif
