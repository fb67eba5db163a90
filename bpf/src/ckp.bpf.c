// SPDX-License-Identifier: GPL-2.0-only
/* Receives the requests, operations and steps that a program reports with inferspan_ckp.h (CKP), by probes on its functions. */
#include "registers.h"
#include "requests.h"
#include "steps.h"
#include "traceparent.h"
#include <bpf/bpf_tracing.h>

#define MOST_CHANGES 4096 /* maximum number of changes of a step; if it has more, its members are unknown */

char LICENSE[] SEC("license") = "GPL";

struct ispan_operation_key {
	u64 id;
	u64 tgid;
};

/* A reported operation that has not ended. It may end on another thread than the one on which it began. */
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

static __always_inline int read_traceparent(u64 address, u8 *trace_id, u8 *span_id)
{
	char text[64] = {};
	long length = bpf_probe_read_user_str(text, sizeof(text), (void *)address);

	return length < 1 ? -1 : traceparent_parse((u8 *)text, length - 1, trace_id, span_id);
}

/* Suspends the thread's request until resume_request. A request or step that the thread reported by CKP ends instead. */
static __always_inline void suspend_request(const struct ispan_settings *settings, struct ispan_thread *thread)
{
	if (thread->source == ISPAN_SOURCE_CKP) {
		request_end(thread->request);
	} else {
		thread->outer_request = thread->request;
		thread->outer_source = thread->source;
		thread->outer_fd = thread->fd;
		thread->outer_flags = thread->flags & (ISPAN_THREAD_LEFT | ISPAN_THREAD_ALONE);
	}
	thread->request = 0;
	thread->in_step = 0;
	thread->flags &= ~(ISPAN_THREAD_AWAY | ISPAN_THREAD_ALONE);
	otel_forget(settings, bpf_get_current_pid_tgid());
}

/* Restores the suspended request, if it has not ended. */
static __always_inline void resume_request(const struct ispan_settings *settings, struct ispan_thread *thread)
{
	struct ispan_request *outer;

	thread->request = thread->outer_request;
	thread->source = thread->outer_source;
	thread->fd = thread->outer_fd;
	thread->outer_request = 0;
	thread->in_step = 0;
	thread->flags |= thread->outer_flags;
	outer = request_of(thread);
	if (outer && !thread->outer_flags && pid_tgid_of(outer) == bpf_get_current_pid_tgid())
		otel_publish(settings, outer);
}

/* Begins the reported request. Without a sampled traceparent, the work that follows belongs to no request. */
static __always_inline void request_begins(const struct ispan_settings *settings, struct pt_regs *regs)
{
	struct ispan_request request = {.fd = -1};
	struct ispan_thread *thread;
	u64 number;
	int flags;

	if (!in_scope(settings, bpf_get_current_pid_tgid() >> 32))
		return;
	thread = thread_made_of(bpf_get_current_task_btf());
	if (!thread)
		return;
	suspend_request(settings, thread);
	thread->source = ISPAN_SOURCE_CKP;
	thread->fd = -1;
	flags = read_traceparent(SLOT1(regs), request.trace_id, request.span_id);
	if (flags < 0)
		count(ISPAN_COUNT_CKP_MALFORMED);
	else if (flags & TRACEPARENT_SAMPLED && (number = request_begin(&request))) {
		announce(settings, &request, number, ISPAN_KIND_OWNER_BEGAN, ISPAN_SOURCE_CKP, (u32)request.fd);
		bind(settings, thread, &request, number, ISPAN_SOURCE_CKP);
	}
}

static __always_inline void request_ends(const struct ispan_settings *settings, struct pt_regs *regs)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());

	if (!thread || thread->source != ISPAN_SOURCE_CKP)
		return;
	request_end(thread->request);
	resume_request(settings, thread);
}

static __always_inline void operation_begins(const struct ispan_settings *settings, struct pt_regs *regs)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_operation operation = {.pid_tgid = pid_tgid};
	struct ispan_operation_key key = {.id = SLOT1(regs), .tgid = pid_tgid >> 32};
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_thread *thread = thread_of(task);

	if (!(settings->flags & ISPAN_EMIT_CKP) ||
	    !context_of(settings, thread, pid_tgid >> 32, (u32)pid_tgid, &operation.context))
		return;
	bpf_probe_read_user_str(operation.name, sizeof(operation.name), (void *)SLOT2(regs));
	operation.start_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&operations, &key, &operation, BPF_ANY);
	if (!thread)
		thread = thread_made_of(task);
	if (thread) {
		thread->operation = key.id;
		thread->operation_ns = operation.start_ns;
	}
}

static __always_inline void operation_ends(const struct ispan_settings *settings, struct pt_regs *regs)
{
	struct ispan_operation_key key = {.id = SLOT1(regs), .tgid = bpf_get_current_pid_tgid() >> 32};
	struct ispan_operation *operation = bpf_map_lookup_elem(&operations, &key);
	struct ispan_record record = {.end_ns = bpf_ktime_get_ns(), .detail = key.id, .extra = key.id};

	if (!operation)
		return;
	if (settings->flags & ISPAN_EMIT_CKP) {
		record_fill(&record, &operation->context, operation->pid_tgid, ISPAN_KIND_CKP_OPERATION);
		record.start_ns = operation->start_ns;
		emit_text(settings, &record, operation->name, TEXT_KERNEL);
	}
	bpf_map_delete_elem(&operations, &key);
}

static __always_inline void fill_request_id(struct ispan_head_record *head, u64 address)
{
	long length = address ? bpf_probe_read_user_str(head->request_id, sizeof(head->request_id), (void *)address) : -1;

	/* For an empty string, the length is 1 with the NUL; older kernels return 0. */
	head->owner.record.result = length > 1 ? ISPAN_BOUND : length < 0 ? ISPAN_BOUND_UNKNOWN : ISPAN_BOUND_AMBIGUOUS;
	if (length <= ISPAN_REQUEST_ID_MOST + 1)
		return;
	count(ISPAN_COUNT_REQUEST_ID_LEFT_OUT);
	head->owner.record.result = ISPAN_BOUND_UNKNOWN;
	__builtin_memset(head->request_id, 0, sizeof(head->request_id));
}

/* Reports which request has a slot, with the ids of its traceparent if that is sampled. */
static __always_inline void slot_is_bound(const struct ispan_settings *settings, struct pt_regs *regs)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_otel_context ids = {};
	struct ispan_head_record *head;
	u64 produced;
	int flags;

	if (!in_scope(settings, pid_tgid >> 32))
		return;
	flags = SLOT3(regs) ? read_traceparent(SLOT3(regs), ids.trace_id, ids.span_id) : 0;
	head = reserve_bytes(sizeof(*head), ISPAN_KIND_SLOT_BOUND, &produced);
	if (!head)
		return;
	__builtin_memset(head, 0, sizeof(*head));
	head->owner.record.start_ns = head->owner.record.end_ns = bpf_ktime_get_ns();
	head->owner.record.tgid = pid_tgid >> 32;
	head->owner.record.tid = (u32)pid_tgid;
	head->owner.record.kind = ISPAN_KIND_SLOT_BOUND;
	head->owner.record.source = ISPAN_SOURCE_CKP;
	head->owner.record.amount = SLOT1(regs);
	head->owner.record.extra = parents_of(bpf_get_current_task_btf());
	if (flags > 0 && flags & TRACEPARENT_SAMPLED)
		fill_ids(&head->owner, ids.trace_id, ids.span_id);
	fill_request_id(head, SLOT2(regs));
	bpf_ringbuf_submit(head, wakeup_flags(settings, produced));
}

struct ispan_step_changes {
	u64 step;
	u64 address;
	u64 count;
};

/* Writes a record of a step's changes. If a record is lost, a reader cannot use the step's later ones, so they are not written. */
static long write_changes(u32 index, struct ispan_step_changes *changes)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u64 before = (u64)index * ISPAN_CHANGES;
	struct ispan_changes_record *room;
	u64 produced, bytes;

	if (before >= changes->count)
		return 1;
	room = reserve_bytes(sizeof(*room), ISPAN_KIND_STEP_CHANGES, &produced);
	if (!room)
		return 1;
	__builtin_memset(room, 0, sizeof(*room));
	room->record.start_ns = room->record.end_ns = bpf_ktime_get_ns();
	room->record.owner = changes->step;
	room->record.tgid = pid_tgid >> 32;
	room->record.tid = (u32)pid_tgid;
	room->record.kind = ISPAN_KIND_STEP_CHANGES;
	room->record.source = ISPAN_SOURCE_CKP;
	room->record.amount = before;
	bytes = (changes->count - before) * sizeof(u64);
	barrier_var(bytes);
	if (bytes > sizeof(room->changes))
		bytes = sizeof(room->changes);
	room->record.result = bpf_probe_read_user(room->changes, bytes, (void *)(changes->address + before * sizeof(u64)));
	bpf_ringbuf_submit(room, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline bool announce_step(const struct ispan_settings *settings, const struct ispan_request *step, u64 number,
					  struct pt_regs *regs)
{
	struct ispan_owner_record *owner;
	u64 produced;

	owner = reserve_bytes(sizeof(*owner), ISPAN_KIND_OWNER_BEGAN, &produced);
	if (!owner)
		return false;
	fill_owner(owner, step, number, ISPAN_KIND_OWNER_BEGAN, ISPAN_SOURCE_CKP, (u32)SLOT4(regs));
	owner->record.amount = (u32)SLOT3(regs);
	owner->record.extra = SLOT1(regs);
	bpf_ringbuf_submit(owner, wakeup_flags(settings, produced));
	return true;
}

/* Begins a step, which owns the calling thread's work until it ends or the next step begins. */
static __always_inline void step_begins(const struct ispan_settings *settings, struct pt_regs *regs)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct ispan_request step = {.fd = -1, .flags = ISPAN_REQUEST_STEP, .unattributed = ISPAN_UNCOUNTED};
	struct ispan_step_changes changes = {.address = SLOT2(regs), .count = (u32)SLOT3(regs)};
	struct ispan_thread *thread;

	if (!in_scope(settings, pid_tgid >> 32))
		return;
	thread = thread_made_of(bpf_get_current_task_btf());
	if (!thread)
		return;
	suspend_request(settings, thread);
	thread->source = ISPAN_SOURCE_CKP;
	thread->fd = -1;
	thread->launches = 0;
	step.tgid = pid_tgid >> 32;
	step.tid = (u32)pid_tgid;
	changes.step = request_enter(&step);
	if (!changes.step)
		return;
	if (announce_step(settings, &step, changes.step, regs))
		bpf_loop(MOST_CHANGES / ISPAN_CHANGES, write_changes, &changes, 0);
	thread->request = changes.step;
	thread->in_step = 1;
	engine_runs(step.tgid, changes.step);
	plugin_runs(step.tgid, parent_of(bpf_get_current_task_btf()));
}

static __always_inline void step_ends(const struct ispan_settings *settings, struct pt_regs *regs)
{
	struct ispan_thread *thread = thread_of(bpf_get_current_task_btf());
	struct ispan_request *step;

	if (!thread || thread->source != ISPAN_SOURCE_CKP)
		return;
	step = request_of(thread);
	/* The number of launches is known only if the probes were attached during the whole step. */
	if (step && step->flags & ISPAN_REQUEST_STEP && settings->flags & ISPAN_EMIT_CUDA &&
	    settings->levels[ISPAN_CLASS_LAUNCHES] != ISPAN_LEVEL_DETACHED && step->began_ns >= settings->attached_ns)
		step->unattributed = thread->launches;
	request_end(thread->request);
	resume_request(settings, thread);
}

/* Defines a program whose runs are measured. */
#define PROGRAM(name, body)                                                                                            \
	SEC("uprobe")                                                                                                  \
	int name(struct pt_regs *regs)                                                                                 \
	{                                                                                                              \
		struct ispan_settings *settings = current_settings();                                                  \
		u64 began;                                                                                             \
                                                                                                                       \
		if (!settings)                                                                                         \
			return 0;                                                                                      \
		began = run_begins(settings);                                                                          \
		body(settings, regs);                                                                                  \
		run_ends(ISPAN_MEASURED_CKP, began);                                                                   \
		return 0;                                                                                              \
	}

PROGRAM(ckp_request_begin, request_begins)
PROGRAM(ckp_request_end, request_ends)
PROGRAM(ckp_operation_begin, operation_begins)
PROGRAM(ckp_operation_end, operation_ends)
PROGRAM(ckp_bind, slot_is_bound)
PROGRAM(ckp_step_begin, step_begins)
PROGRAM(ckp_step_end, step_ends)
