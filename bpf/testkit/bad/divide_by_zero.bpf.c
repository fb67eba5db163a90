/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Divides by the constant zero, in assembler, because the compiler would remove the division. Kernels do not refuse to divide by a
 * register: if it is zero, the result is zero.
 */
#include "bad.h"

SEC("uprobe/policy")
int divide_by_zero(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	asm volatile("%0 /= 0" : "+r"(now));
	return now == 1;
}
