/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes what it was given to look at. */
#include "bad.h"

SEC("raw_tp/sys_enter")
int write_to_context(struct bpf_raw_tracepoint_args *ctx)
{
	ctx->args[0] = 0;
	return 0;
}
