// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that do nothing. The bridge attaches them to a function of its own, to measure the cost of a probe without the work of a
 * program.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int trap_enter(void *regs)
{
	return 0;
}

SEC("uretprobe")
int trap_return(void *regs)
{
	return 0;
}
