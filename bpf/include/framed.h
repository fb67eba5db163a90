/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the requests in each step of vLLM's engine process. Reads them from the messages on the Unix socket between the engine and
 * the API server that started it. The same bytes on any other descriptor are ignored.
 *
 * Each request gets a slot: a number that is unique in the engine's process. A change is a 64-bit word that says how many tokens a
 * step computed for a slot. Its encoding is that of inferspan_ckp.h.
 */
#ifndef INFERSPAN_FRAMED_H
#define INFERSPAN_FRAMED_H

#include "connections.h"
#include "steps.h"
#include "outputs.h"

#define FRAMED_CHUNK 4096	/* bytes copied at a time */
#define FRAMED_MOST_STEPS 65536 /* maximum steps of the decoder per system call */
#define CHANGE_TOKENS_SHIFT 32	/* as in inferspan_ckp.h */
#define CHANGE_MOST_TOKENS 0xffff
#define CHANGE_FINISHED (1ull << 57)

/* The state of the decoder for one direction of an engine's messages. */
struct ispan_stream {
	struct zmtp zmtp;
	u64 changes[ISPAN_CHANGES];
	u64 total; /* changes of this step, including those already written */
	u32 socket;
	u32 held; /* changes not yet written */
};

/* A pass over the bytes of one system call. */
struct ispan_pass {
	struct ispan_stream stream;
	u64 buffer;
	u64 length;
	u64 at;
	u64 from; /* address of the copied bytes */
	u64 owner; /* number of the engine */
	u32 copied;
	u32 tgid;
	u8 bytes[FRAMED_CHUNK + sizeof(struct zmtp_bytes)]; /* the last bytes are padding */
};

struct ispan_framed_id {
	u32 process;
	char text[ZMTP_ID_BYTES];
};

/* The decoders' states, by tgid << 32 | fd. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, struct ispan_stream);
} streams SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ispan_pass);
} passes SEC(".maps");

/* Slots of requests that have arrived and not finished. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct ispan_framed_id);
	__type(value, u32);
} framed_slots SEC(".maps");

static __always_inline struct ispan_pass *current_pass(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&passes, &zero);
}

static __always_inline u64 new_stream(u64 key, const struct ispan_stream *stream)
{
	return bpf_map_update_elem(&streams, &key, stream, BPF_ANY);
}

/* Returns whether the descriptor is a Unix socket to the parent process or the grandparent. */
static __always_inline bool is_of_parent(struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);
	struct socket *socket;
	struct pid *peer;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return false;
	socket = BPF_CORE_READ(file, private_data);
	if (BPF_CORE_READ(socket, sk, __sk_common.skc_family) != AF_UNIX)
		return false;
	peer = BPF_CORE_READ(socket, sk, sk_peer_pid);
	return peer && (peer == BPF_CORE_READ(task, real_parent, group_leader, thread_pid) ||
			peer == BPF_CORE_READ(task, real_parent, real_parent, group_leader, thread_pid));
}

static __always_inline bool make_framed(const struct ispan_settings *settings, u32 tgid)
{
	struct ispan_activity *activity = activity_now();
	struct ispan_framed engine = {};

	if (bpf_map_lookup_elem(&framed, &tgid))
		return true;
	if (BPF_CORE_READ(bpf_get_current_task_btf(), group_leader, start_time) < settings->attached_ns)
		engine.slots = 1;
	engine.owner = (bpf_ktime_get_ns() & ~NUMBER_CPU) | (bpf_get_smp_processor_id() & NUMBER_CPU);
	if (!activity || bpf_map_update_elem(&framed, &tgid, &engine, BPF_NOEXIST))
		return false;
	__sync_fetch_and_add(&activity->framed, 1);
	return true;
}

/* Returns whether a read begins like a message to an engine: a frame of one byte, the type (add or abort), and another frame. */
static __always_inline bool is_message_to_engine(u32 word)
{
	return (word & 0xfcfeffff) == 0x00000101;
}

static __always_inline void begin_stream(struct ispan_pass *pass, u64 key, bool outputs)
{
	__builtin_memset(&pass->stream, 0, sizeof(pass->stream));
	pass->stream.zmtp.outputs = outputs;
	pass->stream.socket = socket_number(file_of(bpf_get_current_task_btf(), (s32)key));
	new_stream(key, &pass->stream);
}

/* Begins to decode a descriptor, if it connects an engine to its API server. Not static, so that the verifier checks it once. */
__noinline int framed_begins(u64 key)
{
	struct ispan_settings *settings = current_settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ispan_pass *pass = current_pass();

	if (!settings || !pass || bpf_map_lookup_elem(&streams, &key) || !in_scope(settings, key >> 32) ||
	    !is_of_parent(task, (s32)key) || !make_framed(settings, key >> 32))
		return 0;
	begin_stream(pass, key, false);
	return 0;
}

static __always_inline bool is_anything_sampled(void)
{
	struct ispan_activity *activity = activity_now();

	return activity && activity->requests;
}

/* Reports a request that has arrived, unless no request is traced. */
static __always_inline void report_added(const struct ispan_settings *settings, struct ispan_pass *pass, u32 slot)
{
	struct ispan_head_record *head;
	u64 produced;

	if (!is_anything_sampled())
		return;
	head = reserve_bytes(sizeof(*head), ISPAN_KIND_SLOT_BOUND, &produced);
	if (!head)
		return;
	__builtin_memset(head, 0, sizeof(*head));
	head->owner.record.start_ns = head->owner.record.end_ns = bpf_ktime_get_ns();
	head->owner.record.owner = pass->owner;
	head->owner.record.tgid = pass->tgid;
	head->owner.record.tid = (u32)bpf_get_current_pid_tgid();
	head->owner.record.kind = ISPAN_KIND_SLOT_BOUND;
	head->owner.record.source = ISPAN_SOURCE_FRAMES;
	head->owner.record.amount = slot;
	head->owner.record.detail = pass->stream.zmtp.length;
	head->owner.record.extra = parents_of(bpf_get_current_task_btf());
	head->owner.record.result = ISPAN_BOUND;
	__builtin_memcpy(head->request_id, pass->stream.zmtp.id.text, sizeof(head->request_id) - 1);
	if (pass->stream.zmtp.id_length >= sizeof(head->request_id)) {
		head->owner.record.result = ISPAN_BOUND_UNKNOWN;
		__builtin_memset(head->request_id, 0, sizeof(head->request_id));
		count(ISPAN_COUNT_REQUEST_ID_LEFT_OUT);
	}
	bpf_ringbuf_submit(head, wakeup_flags(settings, produced));
}

/* Returns the slot for the next request, or 0 if the process is not a known engine. */
static __always_inline u32 next_slot(u32 tgid)
{
	struct ispan_framed *engine = bpf_map_lookup_elem(&framed, &tgid);

	return engine ? __sync_fetch_and_add(&engine->slots, 1) + 1 : 0;
}

static __always_inline void request_added(const struct ispan_settings *settings, struct ispan_pass *pass)
{
	u32 slot = next_slot(pass->tgid);

	if (!slot || !pass->stream.zmtp.id_length)
		return;
	pass->stream.zmtp.id.process = pass->tgid;
	bpf_map_update_elem(&framed_slots, &pass->stream.zmtp.id, &slot, BPF_ANY);
	report_added(settings, pass, slot);
}

/* Writes the buffered changes. The last record of a step also has the step's time. */
static __always_inline void flush_changes(const struct ispan_settings *settings, struct ispan_pass *pass, u64 flags)
{
	struct ispan_stream *stream = &pass->stream;
	struct ispan_activity *activity = activity_now();
	struct ispan_changes_record *room;
	u64 produced;

	room = reserve_bytes(sizeof(*room), ISPAN_KIND_STEP_CHANGES, &produced);
	if (room) {
		__builtin_memset(room, 0, sizeof(*room));
		room->record.end_ns = bpf_ktime_get_ns();
		room->record.start_ns = activity && flags & ISPAN_OUTPUT_LAST ? activity->since_ns : room->record.end_ns;
		room->record.owner = pass->owner;
		room->record.tgid = pass->tgid;
		room->record.tid = (u32)bpf_get_current_pid_tgid();
		room->record.kind = ISPAN_KIND_STEP_CHANGES;
		room->record.source = ISPAN_SOURCE_FRAMES;
		room->record.amount = flags & ISPAN_OUTPUT_LAST ? stream->total : stream->total - stream->held;
		room->record.detail = flags << 32 | stream->zmtp.length;
		room->record.extra = flags & ISPAN_OUTPUT_LAST ? stream->zmtp.number : 0;
		__builtin_memcpy(room->changes, stream->changes, sizeof(room->changes));
		bpf_ringbuf_submit(room, wakeup_flags(settings, produced));
	}
	__builtin_memset(stream->changes, 0, sizeof(stream->changes));
	stream->held = 0;
}

/* Buffers a change of a request. A request whose arrival was missed has slot 0. */
static __always_inline void buffer_change(const struct ispan_settings *settings, struct ispan_pass *pass, u64 flags)
{
	struct ispan_stream *stream = &pass->stream;
	u64 tokens = stream->zmtp.tokens < CHANGE_MOST_TOKENS ? stream->zmtp.tokens : CHANGE_MOST_TOKENS;
	bool gone = flags || stream->zmtp.finished;
	u32 *slot = NULL;
	u64 change;
	u32 at;

	if (stream->zmtp.id_length) {
		stream->zmtp.id.process = pass->tgid;
		slot = bpf_map_lookup_elem(&framed_slots, &stream->zmtp.id);
	}
	change = (slot ? *slot : 0) | (flags ? 0 : tokens << CHANGE_TOKENS_SHIFT) | (gone ? CHANGE_FINISHED : 0);
	if (slot && !flags && stream->zmtp.finished) /* an aborted request may still get tokens */
		bpf_map_delete_elem(&framed_slots, &stream->zmtp.id);
	at = stream->held;
	barrier_var(at);
	if (at >= ISPAN_CHANGES)
		return;
	stream->changes[at] = change;
	stream->held = at + 1;
	stream->total++;
	if (stream->held == ISPAN_CHANGES || flags)
		flush_changes(settings, pass, flags);
}

/* Handles an event of the decoder; returns 1 if the following bytes cannot be decoded. Not static, so that the verifier checks it once. */
__noinline int framed_event(u32 event)
{
	struct ispan_settings *settings = current_settings();
	struct ispan_pass *pass = current_pass();

	if (!settings || !pass)
		return 1;
	switch (event) {
	case ZMTP_ADDED:
		request_added(settings, pass);
		return 0;
	case ZMTP_ABORTED:
		buffer_change(settings, pass, ISPAN_OUTPUT_ABORTED);
		pass->stream.total = 0;
		return 0;
	case ZMTP_OUTPUT:
		buffer_change(settings, pass, 0);
		return 0;
	case ZMTP_OUTPUTS:
		flush_changes(settings, pass, ISPAN_OUTPUT_LAST);
		pass->stream.total = 0;
		return 0;
	default:
		count(ISPAN_COUNT_FRAMES_UNREADABLE);
		if (pass->stream.zmtp.outputs)
			flush_changes(settings, pass, ISPAN_OUTPUT_BROKEN);
		else
			next_slot(pass->tgid);
		return 1;
	}
}

/* Copies the next bytes, unless enough copied bytes are left. */
static __always_inline bool copy_bytes(struct ispan_pass *pass, u64 left, u64 enough)
{
	u32 bytes = left < FRAMED_CHUNK ? left : FRAMED_CHUNK;
	u64 end = pass->from + pass->copied; /* pass->at may be beyond it, after skipped bytes */

	if (end >= pass->at + enough || end == pass->at + left)
		return true;
	barrier_var(bytes);
	if (bytes > FRAMED_CHUNK || bpf_probe_read_user(pass->bytes, bytes, (void *)(pass->buffer + pass->at)))
		return false;
	pass->from = pass->at;
	pass->copied = bytes;
	return true;
}

/* Runs one step of the decoder, which decodes an output or a byte, or skips bytes. */
static long framed_step(u32 index, void *none)
{
	struct ispan_pass *pass = current_pass();
	u32 at, taken = 0;
	bool output;
	u64 left;

	if (!pass || pass->at >= pass->length)
		return 1;
	left = pass->length - pass->at;
	output = zmtp_begins_output(&pass->stream.zmtp);
	if (!copy_bytes(pass, left, output ? ZMTP_PLAIN_BYTES : 1)) {
		framed_event(ZMTP_MALFORMED);
		pass->length = 0;
		return 1;
	}
	at = (pass->at - pass->from) & (FRAMED_CHUNK - 1);
	if (output)
		taken = zmtp_plain_output(&pass->stream.zmtp, (struct zmtp_bytes *)(pass->bytes + at), pass->from + pass->copied - pass->at);
	pass->at += taken ? taken : zmtp_take(&pass->stream.zmtp, pass->bytes[at], left);
	if (pass->stream.zmtp.event && framed_event(pass->stream.zmtp.event)) {
		pass->length = 0;
		return 1;
	}
	return 0;
}

/* Returns whether a write begins like a step's outputs: the first frame of a message, with an array of eight values. */
static __always_inline bool begins_outputs(u64 buffer, u64 length)
{
	u8 begin[10] = {};

	if (length < sizeof(begin) || bpf_probe_read_user(begin, sizeof(begin), (void *)buffer) || begin[0] & ~(ZMTP_MORE | ZMTP_LONG))
		return false;
	return begin[begin[0] & ZMTP_LONG ? 9 : 2] == 0x98;
}

static __always_inline bool may_begin_outputs(u64 key, u64 buffer, u64 length)
{
	return begins_outputs(buffer, length) && is_of_parent(bpf_get_current_task_btf(), (s32)key);
}

#define NO_USER_MEMORY (~0ul << 12)

/* Erases the copied bytes, by a read that fails and therefore fills the buffer with zeros. */
static __always_inline void wipe(struct ispan_pass *pass)
{
	bpf_probe_read_user(pass->bytes, sizeof(pass->bytes), (void *)NO_USER_MEMORY);
}

/* Decodes the bytes that the process has read or written. Not static, so that the verifier checks it once. */
__noinline int framed_moved(u64 key, u64 buffer, u64 length, u64 is_write)
{
	struct ispan_pass *pass = current_pass();
	struct ispan_stream *stream;
	struct ispan_framed *engine;
	u32 tgid = key >> 32;

	engine = bpf_map_lookup_elem(&framed, &tgid);
	if (!engine || !pass || engine->flags & FRAMED_BY_PLUGIN)
		return 0;
	stream = bpf_map_lookup_elem(&streams, &key);
	if (stream && (stream->socket != socket_number(file_of(bpf_get_current_task_btf(), (s32)key)) ||
		       (is_write && !is_anything_sampled()))) {
		bpf_map_delete_elem(&streams, &key);
		stream = NULL;
	}
	if (stream && stream->zmtp.outputs != is_write)
		return 0;
	if (stream)
		pass->stream = *stream;
	else if (is_write && is_anything_sampled() && may_begin_outputs(key, buffer, length))
		begin_stream(pass, key, true);
	else
		return 0;
	pass->tgid = tgid;
	pass->owner = engine->owner;
	pass->buffer = buffer;
	pass->length = length;
	pass->at = pass->from = pass->copied = 0;
	bpf_loop(FRAMED_MOST_STEPS, framed_step, NULL, 0);
	wipe(pass);
	if (pass->at < pass->length)
		framed_event(ZMTP_MALFORMED); /* the bytes need more steps than allowed per system call */
	if (!pass->length || pass->at < pass->length)
		bpf_map_delete_elem(&streams, &key);
	else
		new_stream(key, &pass->stream);
	return 0;
}

#endif
