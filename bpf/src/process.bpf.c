// SPDX-License-Identifier: GPL-2.0-only
/* Passes a thread's request on to the threads and processes that it starts, and reports starts and exits of processes. */
#include "connections.h"
#include "steps.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

/*
 * Gives a new thread or process the request of its creator, until it waits for other work. It gets only the number of the request,
 * so its context ends with the request. A new thread may belong to a pool, and take a job of another request at once. Therefore it has
 * the context only while its process has no other open request. A context that a program publishes for its thread is not passed on,
 * because the new thread would not learn when that context ends.
 */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct ispan_settings *settings = current_settings();
	u64 owner = settings && child->tgid != parent->tgid ? adopted_by(parent->tgid) : 0;
	struct ispan_thread *maker = settings && served_since(settings, parent) ? thread_of(parent) : NULL;
	struct ispan_context context;
	struct ispan_thread *made;

	if (owner)
		process_joins(child->tgid, owner);
	if (!maker || parent->tgid == settings->self_tgid ||
	    !request_context(maker, parent->tgid, parent->pid, &context))
		return 0;
	made = thread_made_of(child);
	if (!made)
		return 0;
	made->request = context.owner;
	made->source = ISPAN_SOURCE_INHERITED;
	made->fd = maker->request ? maker->fd : -1;
	if (child->tgid == parent->tgid)
		made->flags |= ISPAN_THREAD_ALONE;
	count(ISPAN_COUNT_REQUESTS_INHERITED);
	return 0;
}

static __always_inline void process_event(const struct ispan_settings *settings, u16 kind, const void *text)
{
	struct ispan_record record = {.kind = kind};
	u64 pid_tgid = bpf_get_current_pid_tgid();

	if (!(settings->flags & ISPAN_EMIT_PROCESSES))
		return;
	record.start_ns = record.end_ns = bpf_ktime_get_ns();
	record.tgid = pid_tgid >> 32;
	record.tid = (u32)pid_tgid;
	if (!text)
		emit_quietly(&record); /* an exit: the reader only removes state, which can wait */
	else /* an exec: wakes the reader if it must decide whether the process is a target */
		write_text(settings, &record, text, TEXT_KERNEL, settings->scope == ISPAN_SCOPE_EVERYTHING);
}

/* Ends the open requests of a process that exits or executes another program. */
static long end_of_process(void *map, u64 *key, void *connection, u32 *tgid)
{
	const struct ispan_settings *settings = current_settings();

	if (settings && *key >> 32 == *tgid)
		connection_gone(*key);
	return 0;
}

static __always_inline void process_gone(u32 tgid)
{
	struct ispan_server *server = server_of(tgid);

	if (server && (server->open || server->flags & SERVER_LATE_BODIES))
		bpf_for_each_map_elem(&connections, end_of_process, &tgid, 0);
	bpf_map_delete_elem(&servers, &tgid);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *program)
{
	struct ispan_settings *settings = current_settings();

	if (!settings)
		return 0;
	process_gone(bpf_get_current_pid_tgid() >> 32);
	process_event(settings, ISPAN_KIND_PROCESS_STARTED, program->filename);
	return 0;
}

/*
 * Called when a thread exits: ends the request that it read, and its suspended request. A thread that inherited its request does not
 * end it. The thread id in the request does not show which case this is, because an exec changes a thread's id to that of the main
 * thread.
 */
static __always_inline void thread_gone(const struct ispan_settings *settings, struct task_struct *task)
{
	struct ispan_thread *thread = thread_of(task);

	if (thread && thread->request && thread->source != ISPAN_SOURCE_INHERITED)
		request_end(thread->request);
	if (thread && thread->outer_request && thread->outer_source != ISPAN_SOURCE_INHERITED)
		request_end(thread->outer_request);
	otel_forget(settings, bpf_get_current_pid_tgid());
}

/*
 * Removes the published context of a thread of the reader's process that ends, because the next thread with the same id must not
 * have it.
 */
static __always_inline void own_thread_gone(const struct ispan_settings *settings)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u32 tid = (u32)pid_tgid;

	if (pid_tgid >> 32 == settings->self_tgid)
		bpf_map_delete_elem(&own_threads, &tid);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	struct ispan_settings *settings = current_settings();
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!settings)
		return 0;
	thread_gone(settings, task);
	own_thread_gone(settings);
	if (BPF_CORE_READ(task, signal, live.counter))
		return 0;
	process_gone(tgid);
	process_leaves(tgid);
	engine_gone(tgid);
	bpf_map_delete_elem(&adopted, &tgid); /* the owner may have ended before */
	bpf_map_delete_elem(&targets, &tgid); /* the pid may be reused at once */
	process_event(settings, ISPAN_KIND_PROCESS_EXITED, NULL);
	return 0;
}
