/* SPDX-License-Identifier: GPL-2.0-only */
/* A profiler that measures the durations of each kind of call, for the policy `adaptive`. */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_PROFILER(latency)
{
	struct ispan_latency *latency = ispan_latency_of(call);

	if (latency)
		ispan_learn(latency, call, parameter->permille ?: 990);
	return 0;
}
