/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes below the 512 bytes of stack: in assembler, because the compiler refuses this, too, and in one function, because newer
 * kernels allow each function of a tracing program 512 bytes.
 */
#include "bad.h"

SEC("uprobe/policy")
int stack_overflow(void *ctx)
{
	asm volatile("r1 = 0; *(u64 *)(r10 - 520) = r1;" ::: "r1", "memory");
	return 0;
}
