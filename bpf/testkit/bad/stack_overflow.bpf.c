/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes below the 512 bytes of stack. In assembler, since the compiler refuses it too; and in one function, since newer
 * kernels give each function of a tracing program 512 bytes of its own.
 */
#include "bad.h"

SEC("uprobe/policy")
int stack_overflow(void *ctx)
{
	asm volatile("r1 = 0; *(u64 *)(r10 - 520) = r1;" ::: "r1", "memory");
	return 0;
}
