/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A capture policy: a small BPF program that decides, for each call of CUDA and NCCL, whether the call is kept (written as an
 * event), folded (added to the sums of its owner and kind), or dropped (only counted). The owner is what the call is attributed to,
 * such as a request.
 *
 *     #include "inferspan_policy.h"
 *
 *     ISPAN_POLICY(long_ones)
 *     {
 *             return ispan_nanos(call) >= 100000 ? ISPAN_KEEP : ISPAN_FOLD;
 *     }
 *
 * Compile it with `clang -O2 -g -target bpf -mcpu=v3 -I bpf/include`. The kernel verifies it when it is loaded.
 *
 * A profiler (ISPAN_PROFILER) runs before the policy and does not decide: it stores statistics in the shared maps below for the
 * policy. `call` is a copy: writing to any of its fields but `answer` has no effect.
 */
#ifndef INFERSPAN_POLICY_H
#define INFERSPAN_POLICY_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "wire.h"

/* Decisions. A failed call is always kept, and so is one in N calls of each kind (the floor, set by the loader). */
#define ISPAN_KEEP 0
#define ISPAN_FOLD 1
#define ISPAN_DROP 2

/* The call to decide on. */
struct ispan_policy_call {
	struct ispan_record record;
	__u64 began_ns;    /* when the request began; 0 if the owner is a span or has ended */
	__u32 is_answered; /* 1 if the first bytes of the request's response were written */
	__u32 answer;
	__u32 generation; /* generation of the policy that decided; every load and rollback increments the number */
	__u32 reserved;
};

/* Parameters from the loader; 0 selects the program's default. */
struct ispan_parameters {
	__u32 generation;
	__u32 one_in;     /* N: ispan_sampled keeps one call in N */
	__u32 per_second; /* calls of a kind to keep per second */
	__u32 permille;   /* share of calls that do not count as slow, in thousandths */
	__u64 target_ns;  /* target for the time to the first byte of a response */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ispan_parameters);
} parameters SEC(".maps");

/* The shared maps have one row per kind of call, at kind & (ISPAN_POLICY_ROWS - 1). */
#define ISPAN_POLICY_ROWS 128

#define ISPAN_STEP_NANOS 100000000ull /* time between two adjustments */

struct ispan_latency {
	__u64 count;
	__u64 recent_q8;   /* mean of about the last 256 calls; *_q8 values are in 1/256 ns */
	__u64 usual_q8;    /* long-term mean, which falls within a second and rises within minutes; 0: not known yet */
	__u64 quantile_q8; /* estimate of the rolling quantile */
	__u64 next_ns;     /* next adjustment of usual_q8 */
};

struct ispan_rate {
	__u64 second;
	__u64 seen; /* in that second */
};

struct ispan_level {
	__u64 level;
	__u64 until_ns; /* a raised level holds until this time */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ISPAN_POLICY_ROWS);
	__type(key, __u32);
	__type(value, struct ispan_latency);
} latencies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ISPAN_POLICY_ROWS);
	__type(key, __u32);
	__type(value, struct ispan_rate);
} rates SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ISPAN_POLICY_ROWS);
	__type(key, __u32);
	__type(value, struct ispan_level);
} levels SEC(".maps");

/* By thread: the call that the policy is deciding on. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ispan_policy_call);
} policy_calls SEC(".maps");

/* Slots of the program array. The previous programs are kept for a rollback and are not called. */
#define ISPAN_SLOT_PROFILER 0
#define ISPAN_SLOT_POLICY 1
#define ISPAN_SLOT_WRITE 2
#define ISPAN_SLOT_PREVIOUS_PROFILER 3
#define ISPAN_SLOT_PREVIOUS_POLICY 4
#define ISPAN_SLOTS 8

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, ISPAN_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} policies SEC(".maps");

#define ISPAN_ASK(name, section, ...)                                                                                        \
	static __always_inline __u32 name##_answer(struct ispan_policy_call *call, const struct ispan_parameters *parameter);\
	SEC(section)                                                                                                         \
	int name(void *context)                                                                                              \
	{                                                                                                                    \
		struct ispan_policy_call *call = ispan_judged_call();                                                        \
		__u32 first = 0;                                                                                             \
		struct ispan_parameters *parameter = bpf_map_lookup_elem(&parameters, &first);                               \
                                                                                                                             \
		if (call && parameter) {                                                                                     \
			__u32 answer = name##_answer(call, parameter);                                                       \
                                                                                                                             \
			__VA_ARGS__;                                                                                         \
		}                                                                                                            \
		if (sizeof(section) == sizeof("uprobe/profiler"))                                                            \
			bpf_tail_call(context, &policies, ISPAN_SLOT_POLICY);                                                \
		bpf_tail_call(context, &policies, ISPAN_SLOT_WRITE);                                                         \
		return 0;                                                                                                    \
	}                                                                                                                    \
	static __always_inline __u32 name##_answer(struct ispan_policy_call *call, const struct ispan_parameters *parameter)

/* Defines a policy. Its body can use `call` and `parameter`, and returns the decision. */
#define ISPAN_POLICY(name) \
	ISPAN_ASK(name, "uprobe/policy", call->answer = answer, call->generation = parameter->generation)

/* Defines a profiler. Its body is like that of a policy, but its return value is ignored. */
#define ISPAN_PROFILER(name) ISPAN_ASK(name, "uprobe/profiler", (void)answer)

static __always_inline struct ispan_policy_call *ispan_judged_call(void)
{
	return bpf_task_storage_get(&policy_calls, bpf_get_current_task_btf(), (void *)0, 0);
}

static __always_inline __u64 ispan_nanos(const struct ispan_policy_call *call)
{
	return call->record.end_ns - call->record.start_ns;
}

static __always_inline __u32 ispan_row(const struct ispan_policy_call *call)
{
	return call->record.kind & (ISPAN_POLICY_ROWS - 1);
}

static __always_inline struct ispan_latency *ispan_latency_of(const struct ispan_policy_call *call)
{
	__u32 row = ispan_row(call);

	return bpf_map_lookup_elem(&latencies, &row);
}

static __always_inline struct ispan_rate *ispan_rate_of(const struct ispan_policy_call *call)
{
	__u32 row = ispan_row(call);

	return bpf_map_lookup_elem(&rates, &row);
}

static __always_inline struct ispan_level *ispan_level_of(__u32 row)
{
	return bpf_map_lookup_elem(&levels, &row);
}

/* Returns ISPAN_KEEP for one call in one_in, chosen at random, and ISPAN_FOLD for the others. */
static __always_inline __u32 ispan_sampled(__u32 one_in)
{
	return one_in <= 1 || bpf_get_prandom_u32() % one_in == 0 ? ISPAN_KEEP : ISPAN_FOLD;
}

static __always_inline void ispan_learn_usual(struct ispan_latency *latency, __u64 now)
{
	__u64 recent = latency->recent_q8, usual = latency->usual_q8;

	if (now < latency->next_ns)
		return;
	latency->next_ns = now + ISPAN_STEP_NANOS;
	if (!usual)
		latency->usual_q8 = recent;
	else if (recent < usual)
		latency->usual_q8 = usual - ((usual - recent) >> 3);
	else
		latency->usual_q8 = usual + ((recent - usual) >> 10);
}

/*
 * Adds a call to the statistics of its kind. Concurrent calls may overwrite each other's update, so the values are estimates.
 */
static __always_inline void ispan_learn(struct ispan_latency *latency, const struct ispan_policy_call *call, __u32 permille)
{
	__u64 nanos = ispan_nanos(call), scaled = nanos << 8, quantile = latency->quantile_q8;

	if (!latency->count++) {
		latency->recent_q8 = latency->quantile_q8 = scaled;
		latency->next_ns = call->record.end_ns + ISPAN_STEP_NANOS;
		return;
	}
	latency->recent_q8 += nanos - (latency->recent_q8 >> 8);
	ispan_learn_usual(latency, call->record.end_ns);
	/* Calls below the estimate move it down a little, calls above it move it up, so that it converges to the quantile. */
	if (scaled > quantile)
		latency->quantile_q8 = quantile + quantile / 16000 * permille + 1;
	else
		latency->quantile_q8 = quantile - quantile / 16000 * (1000 - permille);
}

#endif
