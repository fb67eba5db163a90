/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps calls that take longer than 99 % of the calls of their kind (parameter permille: 990). Adds the others to a sum. */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_POLICY(slow_only)
{
	struct ispan_latency *latency = ispan_latency_of(call);
	__u64 nanos = ispan_nanos(call), limit;

	if (!latency)
		return ISPAN_KEEP;
	limit = latency->quantile_q8 >> 8;
	ispan_learn(latency, call, parameter->permille ?: 990);
	return nanos > limit ? ISPAN_KEEP : ISPAN_FOLD;
}
