/* SPDX-License-Identifier: GPL-2.0-only */
/* Publishes a thread's request to other tools, in the OpenTelemetry context map (traces_ctx_v1). */
#ifndef INFERSPAN_OTEL_H
#define INFERSPAN_OTEL_H

#include "maps.h"

static __always_inline u64 pid_tgid_of(const struct ispan_request *request)
{
	return (u64)request->tgid << 32 | request->tid;
}

static __always_inline void otel_publish(const struct ispan_settings *settings, const struct ispan_request *request)
{
	u64 pid_tgid = pid_tgid_of(request);
	struct ispan_otel_context context;

	if (!(settings->flags & ISPAN_PUBLISH_OTEL))
		return;
	__builtin_memcpy(context.trace_id, request->trace_id, sizeof(context.trace_id));
	__builtin_memcpy(context.span_id, request->span_id, sizeof(context.span_id));
	bpf_map_update_elem(&otel_contexts, &pid_tgid, &context, BPF_ANY);
}

/* Removes the thread's entry, unless the thread already serves another request. */
static __always_inline void otel_withdraw(const struct ispan_settings *settings,
					      const struct ispan_request *request)
{
	u64 pid_tgid = pid_tgid_of(request);
	struct ispan_otel_context *context;

	if (!(settings->flags & ISPAN_PUBLISH_OTEL))
		return;
	context = bpf_map_lookup_elem(&otel_contexts, &pid_tgid);
	if (context && !__builtin_memcmp(context->span_id, request->span_id, sizeof(context->span_id)))
		bpf_map_delete_elem(&otel_contexts, &pid_tgid);
}

/* Removes the entry of a thread that ends, or that reports that it serves no request. */
static __always_inline void otel_forget(const struct ispan_settings *settings, u64 pid_tgid)
{
	if (settings->flags & ISPAN_PUBLISH_OTEL)
		bpf_map_delete_elem(&otel_contexts, &pid_tgid);
}

#endif
