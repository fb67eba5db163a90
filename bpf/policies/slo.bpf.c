/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folds all calls (adds them to sums) until a request waits longer than 500 ms (parameter target_ns) for the first byte of its
 * response. Then keeps the calls of all requests, until 10 s pass without another such request.
 */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

#define HOLD_NANOS 10000000000ull
#define ALL_KINDS 0

ISPAN_POLICY(slo)
{
	struct ispan_level *level = ispan_level_of(ALL_KINDS);
	__u64 now = call->record.end_ns;

	if (!level)
		return ISPAN_KEEP;
	if (call->began_ns && !call->is_answered && now - call->began_ns > (parameter->target_ns ?: 500000000ull)) {
		level->level = 1;
		level->until_ns = now + HOLD_NANOS;
	} else if (level->level && now >= level->until_ns) {
		level->level = 0;
	}
	return level->level ? ISPAN_KEEP : ISPAN_FOLD;
}
