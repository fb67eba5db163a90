// SPDX-License-Identifier: GPL-2.0-only
/* Samples stacks of processes, traced or not; does not need the bridge. */
#include "device.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline bool find_trace(struct ispan_trace *trace)
{
	return true;
}
