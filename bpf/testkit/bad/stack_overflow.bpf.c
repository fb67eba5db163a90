/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes below the 512 bytes of stack. It does so in assembler, because the compiler would refuse it, and within one function,
 * because newer kernels allow each function of a tracing program 512 bytes.
 */
#include "bad.h"

SEC("uprobe/policy")
int stack_overflow(void *ctx)
{
	asm volatile("r1 = 0; *(u64 *)(r10 - 520) = r1;" ::: "r1", "memory");
	return 0;
}
