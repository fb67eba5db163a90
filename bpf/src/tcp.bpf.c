// SPDX-License-Identifier: GPL-2.0-only
/* Reports a request's TCP connects, and the retransmissions of its data. */
#include "context.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_CLOSE 7
#define ECANCELED 125

/* The thread that connected a socket, or last sent on it. */
struct ispan_sender {
	struct ispan_context context;
	u64 pid_tgid;
	u64 start_ns;
	u64 write_seq; /* the socket's write_seq after that send; if it has changed since, another thread has sent data */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct ispan_sender);
} senders SEC(".maps");

static __always_inline u32 write_seq_of(const struct sock *sk)
{
	return BPF_CORE_READ((const struct tcp_sock *)sk, write_seq);
}

static __always_inline void remember_sender(const struct ispan_settings *settings, const struct sock *sk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_sender sender = {};
	u64 key = (u64)sk;

	if (!served_since(settings, task) || !context_of(settings, thread_of(task), task->tgid, task->pid, &sender.context))
		return;
	sender.pid_tgid = (u64)task->tgid << 32 | (u32)task->pid;
	sender.start_ns = bpf_ktime_get_ns();
	sender.write_seq = write_seq_of(sk);
	bpf_map_update_elem(&senders, &key, &sender, BPF_ANY);
}

/* Ignores entries from before this program was last attached: the socket may have been closed meanwhile, and its address reused. */
static __always_inline struct ispan_sender *sender_of(const struct ispan_settings *settings, u64 sk)
{
	struct ispan_sender *sender = bpf_map_lookup_elem(&senders, &sk);

	return sender && sender->start_ns >= settings->sched_ns ? sender : NULL;
}

static __always_inline void emit_tcp(const struct ispan_settings *settings, struct ispan_sender *sender, u16 kind,
				     u64 start, u64 amount, s32 result, u8 state)
{
	struct ispan_record record = {.start_ns = start, .end_ns = bpf_ktime_get_ns(), .amount = amount, .result = result};

	record_fill(&record, &sender->context, sender->pid_tgid, kind);
	record.detail = state;
	emit(settings, &record);
}

/* A connect that is aborted before a response has no error; report ECANCELED. */
static __always_inline s32 outcome(const struct sock *sk, int state)
{
	int error = BPF_CORE_READ(sk, sk_err);

	if (state == TCP_ESTABLISHED)
		return 0;
	return error ? -error : -ECANCELED;
}

/* The end of a connect may occur in an interrupt on any thread, so the socket determines the owner. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(tcp_state, const struct sock *sk, int from, int to)
{
	struct ispan_settings *settings = current_settings();
	struct ispan_sender *sender;
	u64 key = (u64)sk;

	if (!settings || !(settings->flags & ISPAN_EMIT_TCP))
		return 0;
	if (to == TCP_SYN_SENT) {
		remember_sender(settings, sk);
		return 0;
	}
	if (from == TCP_SYN_SENT) {
		sender = sender_of(settings, key);
		if (sender)
			emit_tcp(settings, sender, ISPAN_KIND_TCP_CONNECT, sender->start_ns, 0,
				 outcome(sk, to), to);
	}
	if (to == TCP_CLOSE)
		bpf_map_delete_elem(&senders, &key);
	return 0;
}

/* Kernels before 6.3 lack this tracepoint. There, only retransmissions of a connection's first bytes can be attributed. */
SEC("tp_btf/sock_send_length")
int BPF_PROG(tcp_sent, struct sock *sk, int length, int flags)
{
	struct ispan_settings *settings = current_settings();
	u64 began;
	u16 family;

	if (!settings || !(settings->flags & ISPAN_EMIT_TCP) || length <= 0)
		return 0;
	began = run_begins(settings); /* the other programs for TCP run too rarely to be measured */
	family = sk->__sk_common.skc_family;
	if (family == AF_INET || family == AF_INET6)
		remember_sender(settings, sk);
	run_ends(ISPAN_MEASURED_SCHED, began);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retransmit, const struct sock *sk, const struct sk_buff *bytes)
{
	struct ispan_settings *settings = current_settings();
	u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);
	struct ispan_sender *sender;

	if (!settings || !(settings->flags & ISPAN_EMIT_TCP))
		return 0;
	sender = sender_of(settings, (u64)sk);
	/* During a connect, the socket has only one sender, and its write_seq is set after the sender was stored. */
	if (!sender || (state != TCP_SYN_SENT && sender->write_seq != write_seq_of(sk)))
		return 0;
	/* If the request has ended, another request may be using the connection. */
	if (!(sender->context.owner & ISPAN_OWNER_IS_SPAN) && !bpf_map_lookup_elem(&requests, &sender->context.owner))
		return 0;
	emit_tcp(settings, sender, ISPAN_KIND_TCP_RETRANSMIT, bpf_ktime_get_ns(), BPF_CORE_READ(bytes, len), 0,
		 state);
	return 0;
}
