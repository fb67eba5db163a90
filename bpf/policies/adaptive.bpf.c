/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps one in 64 calls of a kind (parameter one_in), and folds the others (adds them to a sum). Every 100 ms, the level of the kind
 * rises if recent calls took more than twice the long-term mean, and falls if they took less than 1.5 times the mean. Each level
 * keeps four times as many calls as the level below, and level 3 keeps all. Needs the profiler `latency`, which measures the means.
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
