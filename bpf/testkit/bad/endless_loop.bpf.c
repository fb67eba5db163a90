/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for a time that need not come. */
#include "bad.h"

SEC("uprobe/policy")
int endless_loop(void *ctx)
{
	while (bpf_ktime_get_ns() != 1)
		;
	return 0;
}
