// SPDX-License-Identifier: GPL-2.0-only
/* Do nothing, so that the reader can measure what a probe costs without its program, at a function of its own. */
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
