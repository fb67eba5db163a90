/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes what it was given to look at. */
#include "bad.h"

SEC("uprobe/policy")
int write_to_context(__u64 *ctx)
{
	ctx[0] = 0;
	return 0;
}
