/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps up to 1,000 calls of a kind per second (parameter per_second), and folds the others (adds them to a sum). */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

#define SECOND 1000000000ull

ISPAN_POLICY(rate_limit)
{
	struct ispan_rate *rate = ispan_rate_of(call);
	__u64 second = call->record.end_ns / SECOND;

	if (!rate)
		return ISPAN_KEEP;
	if (rate->second != second) {
		rate->second = second;
		rate->seen = 0;
	}
	return __sync_fetch_and_add(&rate->seen, 1) < (parameter->per_second ?: 1000) ? ISPAN_KEEP : ISPAN_FOLD;
}
