// SPDX-License-Identifier: GPL-2.0-only
/* Which processes are owners themselves? Run by the reader, when it adopts a process and when it lets it go. */
#include "requests.h"

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

/* A process that was adopted before belongs to the new owner. The number of the owner is written back; 0: there is no room. */
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

/* Lets one process go; or, where none is named, the owner with all that belong to it. */
SEC("syscall")
int process_release(struct ispan_adoption *adoption)
{
	if (adoption->tgid)
		process_leaves(adoption->tgid);
	else
		request_end(adoption->owner);
	return 0;
}
