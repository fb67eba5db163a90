// SPDX-License-Identifier: GPL-2.0-only
/* Counts stacks by trace: that of the request for which the thread worked. Finds the trace in the maps of a running bridge. */
#include "context.h"
#include "device.h"

char LICENSE[] SEC("license") = "GPL";

/* The only trace whose stacks are counted; zero: count all threads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ispan_trace);
} wanted_trace SEC(".maps");

static __always_inline const struct ispan_otel_context *own_ids(u32 tid)
{
	u32 *slot = bpf_map_lookup_elem(&own_threads, &tid);
	struct ispan_own *own;
	u32 index;

	if (!slot)
		return NULL;
	index = *slot - 1;
	own = bpf_map_lookup_elem(&own_contexts, &index);
	return own ? &own->ids : NULL;
}

/* Returns the trace id of a context, or NULL. For a step of an engine, which works for several requests, the id is zero. */
static __always_inline const u8 *trace_id_of(const struct ispan_context *context, u64 pid_tgid)
{
	u64 number = context->owner;
	const struct ispan_otel_context *ids;

	if (context->source != ISPAN_SOURCE_OWN && context->source != ISPAN_SOURCE_OTEL) {
		const struct ispan_request *request = bpf_map_lookup_elem(&requests, &number);

		return request ? request->trace_id : NULL;
	}
	ids = context->source == ISPAN_SOURCE_OWN ? own_ids((u32)pid_tgid) : bpf_map_lookup_elem(&otel_contexts, &pid_tgid);
	return ids ? ids->trace_id : NULL;
}

/* Finds the thread's trace; returns false if only the stacks of another trace are counted. */
static __always_inline bool find_trace(struct ispan_trace *trace)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_context context = {};
	struct ispan_trace *wanted;
	const u8 *id = NULL;
	u32 zero = 0;

	if (settings && served_since(settings, task) && context_of_thread(thread_of(task), pid_tgid, &context))
		id = trace_id_of(&context, pid_tgid);
	if (id) {
		trace->first = word_of(id);
		trace->second = word_of(id + 8);
	}
	wanted = bpf_map_lookup_elem(&wanted_trace, &zero);
	if (!wanted || !(wanted->first | wanted->second))
		return true;
	return trace->first == wanted->first && trace->second == wanted->second;
}
