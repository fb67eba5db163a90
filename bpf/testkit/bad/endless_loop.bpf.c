/* SPDX-License-Identifier: GPL-2.0-only */
/* Loops until a condition that may never become true. */
#include "bad.h"

SEC("uprobe/policy")
int endless_loop(void *ctx)
{
	while (bpf_ktime_get_ns() != 1)
		;
	return 0;
}
