/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps every call: what is written is the same as without a policy, with its generation. */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_POLICY(keep_all)
{
	return ISPAN_KEEP;
}
