// SPDX-License-Identifier: GPL-2.0-only
/* What does a program itself say of its requests and operations? Probes on the functions of inferspan_ckp.h. */
#include "registers.h"
#include "requests.h"
#include "traceparent.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

struct ispan_operation_key {
	u64 id;
	u64 tgid;
};

/* An operation may begin on one thread and end on another. */
struct ispan_operation {
	struct ispan_context context;
	u64 pid_tgid;
	u64 start_ns;
	char name[ISPAN_TEXT_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct ispan_operation_key);
	__type(value, struct ispan_operation);
} operations SEC(".maps");

static __always_inline int read_traceparent_of(struct pt_regs *regs, struct ispan_request *request)
{
	char text[64] = {};
	long length = bpf_probe_read_user_str(text, sizeof(text), (void *)SLOT1(regs));

	return length < 1 ? -1 : traceparent_parse((u8 *)text, length - 1, request->trace_id, request->span_id);
}

/* What the thread served before stays alive, and is gone back to at the end. */
static __always_inline void set_aside(const struct ispan_settings *settings, struct ispan_thread *thread)
{
	if (thread->source == ISPAN_SOURCE_CKP) {
		request_end(settings, thread->request);
	} else {
		thread->outer_request = thread->request;
		thread->outer_source = thread->source;
		thread->outer_fd = thread->fd;
		thread->outer_left = thread->flags & ISPAN_THREAD_LEFT;
	}
	thread->request = 0;
	thread->flags &= ~ISPAN_THREAD_AWAY;
	contract_forget(settings, bpf_get_current_pid_tgid());
}

/* What the thread served before, it serves again; unless that has ended meanwhile. */
static __always_inline void go_back(const struct ispan_settings *settings, struct ispan_thread *thread)
{
	struct ispan_request *outer;

	thread->request = thread->outer_request;
	thread->source = thread->outer_source;
	thread->fd = thread->outer_fd;
	thread->outer_request = 0;
	thread->flags |= thread->outer_left;
	outer = request_of(thread);
	if (outer && !thread->outer_left && pid_tgid_of(outer) == bpf_get_current_pid_tgid())
		contract_publish(settings, outer);
}

/* A traceparent that is not sampled, or none, means: what follows belongs to nobody that is traced. */
SEC("uprobe")
int ckp_request_begin(struct pt_regs *regs)
{
	struct ispan_settings *settings = current_settings();
	struct ispan_request request = {.fd = -1};
	struct ispan_thread *thread;
	int flags;

	if (!settings || !in_scope(settings, bpf_get_current_pid_tgid() >> 32))
		return 0;
	thread = thread_made_of(bpf_get_current_task_btf());
	if (!thread)
		return 0;
	set_aside(settings, thread);
	thread->source = ISPAN_SOURCE_CKP;
	thread->fd = -1;
	flags = read_traceparent_of(regs, &request);
	if (flags < 0)
		count(ISPAN_COUNT_CKP_MALFORMED);
	else if (flags & TRACEPARENT_SAMPLED)
		request_begin(settings, thread, &request, ISPAN_SOURCE_CKP);
	return 0;
}

SEC("uprobe")
int ckp_request_end(struct pt_regs *regs)
{
	struct ispan_settings *settings = current_settings();
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());

	if (!settings || !thread || thread->source != ISPAN_SOURCE_CKP)
		return 0;
	request_end(settings, thread->request);
	go_back(settings, thread);
	return 0;
}

SEC("uprobe")
int ckp_operation_begin(struct pt_regs *regs)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_operation operation = {.pid_tgid = pid_tgid};
	struct ispan_operation_key key = {.id = SLOT1(regs), .tgid = pid_tgid >> 32};
	struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_thread *thread = thread_of(task);

	if (!settings || !(settings->flags & ISPAN_EMIT_CKP) ||
	    !context_of(settings, thread, pid_tgid >> 32, (u32)pid_tgid, &operation.context))
		return 0;
	bpf_probe_read_user_str(operation.name, sizeof(operation.name), (void *)SLOT2(regs));
	operation.start_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&operations, &key, &operation, BPF_ANY);
	if (!thread)
		thread = thread_made_of(task);
	if (thread) {
		thread->operation = key.id;
		thread->operation_ns = operation.start_ns;
	}
	return 0;
}

SEC("uprobe")
int ckp_operation_end(struct pt_regs *regs)
{
	struct ispan_operation_key key = {.id = SLOT1(regs), .tgid = bpf_get_current_pid_tgid() >> 32};
	struct ispan_operation *operation = bpf_map_lookup_elem(&operations, &key);
	struct ispan_settings *settings = current_settings();
	struct ispan_record record = {.end_ns = bpf_ktime_get_ns(), .detail = key.id, .extra = key.id};

	if (!operation)
		return 0;
	if (settings && settings->flags & ISPAN_EMIT_CKP) {
		record_fill(&record, &operation->context, operation->pid_tgid, ISPAN_KIND_CKP_OPERATION);
		record.start_ns = operation->start_ns;
		emit_text(settings, &record, operation->name, TEXT_KERNEL);
	}
	bpf_map_delete_elem(&operations, &key);
	return 0;
}
