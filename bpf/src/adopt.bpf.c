// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that the reader (the bridge or a test program) runs. process_adopt makes a process an owner: its events are attributed to
 * it unless they belong to a request. process_release ends that. requests_forget forgets all requests.
 */
#include "connections.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline u64 begin_process(const struct ispan_settings *settings, const struct ispan_adoption *adoption)
{
	struct ispan_request request = {.fd = -1, .flags = ISPAN_REQUEST_PROCESS, .tgid = adoption->tgid, .tid = adoption->tgid};
	struct ispan_activity *activity = activity_now();
	u64 number;

	__builtin_memcpy(request.trace_id, adoption->ids.trace_id, sizeof(request.trace_id));
	__builtin_memcpy(request.span_id, adoption->ids.span_id, sizeof(request.span_id));
	number = request_enter(&request);
	if (!number || !activity)
		return 0;
	announce(settings, &request, number, ISPAN_KIND_OWNER_BEGAN, ISPAN_SOURCE_PROCESS, (u32)request.fd);
	__sync_fetch_and_add(&activity->processes, 1);
	return number;
}

/* Assigns a process to an owner, instead of its previous one. Returns the owner's number in the context, or 0 if it failed. */
SEC("syscall")
int process_adopt(struct ispan_adoption *adoption)
{
	struct ispan_settings *settings = current_settings();
	u32 tgid = adoption->tgid;
	u64 number = adoption->owner;

	if (!settings)
		return 0;
	if (number && adopted_by(tgid) == number)
		return 0;
	if (!number)
		number = begin_process(settings, adoption);
	process_leaves(tgid);
	if (number && !process_joins(tgid, number)) {
		if (!adoption->owner)
			request_end(number);
		number = 0;
	}
	adoption->owner = number;
	return 0;
}

/* Releases one process, or, without a tgid, the owner with all its processes. */
SEC("syscall")
int process_release(struct ispan_adoption *adoption)
{
	if (adoption->tgid)
		process_leaves(adoption->tgid);
	else
		request_end(adoption->owner);
	return 0;
}

static long forget_connection(void *map, u64 *key, void *connection, void *none)
{
	request_end(connection_close(*key));
	return 0;
}

static long forget_owner(void *map, u64 *number, struct ispan_request *request, void *none)
{
	if (!(request->flags & ISPAN_REQUEST_PROCESS))
		request_end(*number);
	return 0;
}

static long forget_server(void *map, u32 *tgid, void *server, void *none)
{
	bpf_map_delete_elem(map, tgid);
	return 0;
}

static long forget_framed(void *map, u32 *tgid, void *engine, struct ispan_activity **activity)
{
	if (!bpf_map_delete_elem(map, tgid))
		__sync_fetch_and_add(&(*activity)->framed, -1);
	return 0;
}

/*
 * Forgets all requests and steps, and the state of connections and servers. Called when the programs that detect the ends of requests
 * are attached or detached, because ends may have been or will be missed. Adoptions continue.
 */
SEC("syscall")
int requests_forget(struct ispan_adoption *unused)
{
	struct ispan_activity *activity = activity_now();

	if (!activity)
		return 0;
	/* Walking even an empty map of 16,384 buckets takes a quarter of a millisecond. */
	if (activity->heads)
		bpf_for_each_map_elem(&connections, forget_connection, NULL, 0);
	if (activity->requests)
		bpf_for_each_map_elem(&requests, forget_owner, NULL, 0);
	bpf_for_each_map_elem(&servers, forget_server, NULL, 0);
	if (activity->framed)
		bpf_for_each_map_elem(&framed, forget_framed, &activity, 0);
	activity->since_ns = bpf_ktime_get_ns();
	return 0;
}
