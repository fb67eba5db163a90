/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A capture policy: a small program that is asked about each call of CUDA and NCCL before it is written. It answers whether the
 * call is kept, folded into the sums of its owner and operation, or dropped, which is counted for the owner.
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
 * A profiler (ISPAN_PROFILER) is asked first and answers nothing: it leaves what it learns in the shared maps below, where the
 * policy finds it. The call is a copy: what a program writes to it, other than the answer, changes nothing.
 */
#ifndef INFERSPAN_POLICY_H
#define INFERSPAN_POLICY_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "wire.h"

/* Answers. A call that failed is kept whatever the answer, and so is one call of a kind in so many (the floor). */
#define ISPAN_KEEP 0
#define ISPAN_FOLD 1
#define ISPAN_DROP 2

/* A call that is judged. */
struct ispan_policy_call {
	struct ispan_record record;
	__u64 began_ns;    /* when the request began; 0: the owner is a span, or has ended */
	__u32 is_answered; /* 1: the first bytes of the request's answer were written */
	__u32 answer;
	__u32 generation; /* of the policy that answered */
	__u32 reserved;
};

/* What the loader gives a program; 0 is the program's default. */
struct ispan_parameters {
	__u32 generation;
	__u32 one_in;     /* of calls that are sampled, one in so many is kept */
	__u32 per_second; /* so many calls of a kind are kept in a second */
	__u32 permille;   /* of calls are not slow */
	__u64 target_ns;  /* time to the first byte of an answer */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ispan_parameters);
} parameters SEC(".maps");

/* The shared maps have a row for each kind of call; a kind's row is kind & (ISPAN_POLICY_ROWS - 1). */
#define ISPAN_POLICY_ROWS 128

#define ISPAN_STEP_NANOS 100000000ull /* between two adjustments */

struct ispan_latency {
	__u64 count;
	__u64 recent_q8;   /* mean of about the last 256 calls, in 1/256 ns, as are the others */
	__u64 usual_q8;    /* follows the mean within a second where it falls, and within minutes where it rises; 0: not known yet */
	__u64 quantile_q8; /* estimate of the rolling quantile */
	__u64 next_ns;     /* when the usual mean is adjusted next */
};

struct ispan_rate {
	__u64 second;
	__u64 seen; /* in that second */
};

struct ispan_level {
	__u64 level;
	__u64 until_ns; /* a level that was raised holds until then */
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

/* The call that a thread has under judgement. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ispan_policy_call);
} policy_calls SEC(".maps");

/* Slots of the array of programs. The previous ones are kept for a rollback; nothing calls them. */
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

/* Its body has `call` and `parameter`, and returns the answer. */
#define ISPAN_POLICY(name) \
	ISPAN_ASK(name, "uprobe/policy", call->answer = answer, call->generation = parameter->generation)

/* The same; what it returns is ignored. */
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

/* One call in so many, chosen at random. */
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

/* Adds a call to what is known of its kind. Calls on several CPUs may overwrite each other's step: these are estimates. */
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
	/* Where permille of the calls take it a step down, and the others the rest of a step up, it rests at the quantile. */
	if (scaled > quantile)
		latency->quantile_q8 = quantile + quantile / 16000 * permille + 1;
	else
		latency->quantile_q8 = quantile - quantile / 16000 * (1000 - permille);
}

#endif
