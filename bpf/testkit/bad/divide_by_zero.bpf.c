/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Divides by the constant zero, in assembler, since the compiler drops it. A division by a register that is zero is
 * defined in BPF (the result is zero), so no kernel refuses that.
 */
#include "bad.h"

SEC("uprobe/policy")
int divide_by_zero(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	asm volatile("%0 /= 0" : "+r"(now));
	return now == 1;
}
