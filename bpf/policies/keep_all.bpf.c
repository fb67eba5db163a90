/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps every call. The events are those without a policy, plus the policy's generation. */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_POLICY(keep_all)
{
	return ISPAN_KEEP;
}
