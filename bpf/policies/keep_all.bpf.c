/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps every call. The events are the same as without a policy, but also have the policy's generation, a number that each load
 * increments.
 */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_POLICY(keep_all)
{
	return ISPAN_KEEP;
}
