/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that measure the cost of a policy per call, without the cost of a probe or a record. Each program runs a policy
 * repeatedly, and stores the total time in nanoseconds.
 */
#include "inferspan_policy.h"

/* Makes ISPAN_POLICY define a function instead of a program, so that policies can be included. */
#undef ISPAN_POLICY
#define ISPAN_POLICY(name) \
	static __always_inline __u32 name##_answer(struct ispan_policy_call *call, const struct ispan_parameters *parameter)
#define LICENSE license_of_adaptive
#include "../policies/adaptive.bpf.c"
#undef LICENSE
#define LICENSE license_of_slo
#include "../policies/slo.bpf.c"
#undef LICENSE

struct cost {
	__u64 rounds;
	__u64 nanos;
};

ISPAN_POLICY(noop)
{
	return ISPAN_KEEP;
}

ISPAN_POLICY(lookup)
{
	struct ispan_latency *latency = ispan_latency_of(call);

	return latency && latency->count ? ISPAN_KEEP : ISPAN_FOLD;
}

ISPAN_POLICY(update)
{
	struct ispan_latency *latency = ispan_latency_of(call);

	if (latency)
		ispan_learn(latency, call, 990);
	return ISPAN_KEEP;
}

#define COST(name)                                                                           \
	static long name##_once(__u32 index, struct ispan_policy_call *call)                 \
	{                                                                                    \
		__u32 first = 0;                                                             \
		struct ispan_parameters *parameter = bpf_map_lookup_elem(&parameters, &first); \
                                                                                             \
		call->record.end_ns += 1000;                                                 \
		call->record.start_ns = call->record.end_ns - 3000;                          \
		if (parameter)                                                               \
			call->answer = name##_answer(call, parameter);                       \
		return 0;                                                                    \
	}                                                                                    \
	SEC("syscall")                                                                       \
	int cost_of_##name(struct cost *cost)                                                \
	{                                                                                    \
		struct ispan_policy_call call = {.record.kind = ISPAN_KIND_CUDA_LAUNCH};     \
		__u64 began = bpf_ktime_get_ns();                                            \
                                                                                             \
		call.record.end_ns = began;                                                  \
		bpf_loop((__u32)cost->rounds, name##_once, &call, 0);                        \
		cost->nanos = bpf_ktime_get_ns() - began;                                    \
		return (int)call.answer;                                                     \
	}

COST(noop)
COST(lookup)
COST(update)
COST(adaptive)
COST(slo)
