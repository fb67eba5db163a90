/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls a helper of network programs from a tracing program. */
#include "bad.h"

SEC("uprobe/policy")
int illegal_helper(void *ctx)
{
	return bpf_redirect(1, 0) == 1;
}
