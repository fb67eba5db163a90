/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes to its context, which is read-only. */
#include "bad.h"

SEC("uprobe/policy")
int write_to_context(__u64 *ctx)
{
	ctx[0] = 0;
	return 0;
}
