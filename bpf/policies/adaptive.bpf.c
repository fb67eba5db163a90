/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps more of a kind while its calls take longer than they usually do, as the profiler `latency` says; without it, and while all
 * is as usual, one in 64, or in as many as given. A level has four times the detail of the one below.
 */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

#define FULL 3

ISPAN_POLICY(adaptive)
{
	struct ispan_latency *latency = ispan_latency_of(call);
	struct ispan_level *level = ispan_level_of(ispan_row(call));
	__u64 now = call->record.end_ns, recent, usual;

	if (!latency || !level)
		return ISPAN_KEEP;
	if (latency->usual_q8 && now >= level->until_ns) {
		level->until_ns = now + ISPAN_STEP_NANOS;
		recent = latency->recent_q8;
		usual = latency->usual_q8;
		if (recent > 2 * usual && level->level < FULL)
			level->level++;
		else if (recent < usual + usual / 2 && level->level)
			level->level--;
	}
	if (level->level >= FULL)
		return ISPAN_KEEP;
	return ispan_sampled((parameter->one_in ?: 64) >> (2 * level->level & 7));
}
