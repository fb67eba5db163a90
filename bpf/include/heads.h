/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the heads (request line and headers) of HTTP requests from the buffers of read system calls. The state of an incomplete
 * head is kept for the next read.
 */
#ifndef INFERSPAN_HEADS_H
#define INFERSPAN_HEADS_H

#include "files.h"
#include "http.h"
#include "numbers.h"

#define BRINGS_NO_BYTES (MSG_PEEK | MSG_TRUNC) /* the bytes stay in the connection, or are not in the buffer */

/* Incomplete heads, by connection. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct ispan_head);
} heads SEC(".maps");

/* The location of the bytes of a read: one buffer, or a list of buffers. */
struct ispan_bytes {
	u64 buffer;
	u64 list;
	u64 list_length;
	u64 length;
};

/* Returns false if the read took no bytes from the connection, or the bytes cannot be found. */
static __always_inline bool bytes_of(u64 number, u64 length, u64 second, u64 third, u64 fourth,
				     struct ispan_bytes *bytes)
{
	struct user_msghdr message = {};
	struct iovec first = {};

	bytes->length = length;
	bytes->list = 0;
	switch (number) {
	case NR_recvfrom:
		if (fourth & BRINGS_NO_BYTES)
			return false;
		/* fall through */
	case NR_read:
		bytes->buffer = second;
		return true;
	case NR_recvmsg:
		if (third & BRINGS_NO_BYTES || bpf_probe_read_user(&message, sizeof(message), (void *)second))
			return false;
		bytes->list = (u64)message.msg_iov;
		bytes->list_length = message.msg_iovlen;
		break;
	default:
		bytes->list = second;
		bytes->list_length = third;
	}
	if (bpf_probe_read_user(&first, sizeof(first), (void *)bytes->list))
		return false;
	bytes->buffer = (u64)first.iov_base;
	if (first.iov_len >= bytes->length)
		bytes->list = 0;
	return true;
}

/* Returns the ispan_place of a descriptor, packed into a 64-bit word. Not static, so that the verifier checks it once. */
__noinline u64 place_of(u32 fd)
{
	struct file *file = file_of(bpf_get_current_task_btf(), (s32)fd);
	u64 socket = socket_number(file);

	return socket ? (u64)bytes_taken(file) << 32 | socket : 0;
}

/*
 * Returns whether the bytes continue the connection's incomplete head. They do not if the descriptor now refers to another socket, or
 * if other bytes were read in between. The position in the socket shows whether other bytes were read. If the kernel has no position,
 * the head counts as abandoned if these bytes begin a request. Not static, so that the verifier checks it once.
 */
__noinline int continues_head(u64 connection, u64 buffer, u64 length)
{
	struct ispan_head *head = bpf_map_lookup_elem(&heads, &connection);
	u64 now = place_of((u32)connection);
	u32 taken = now >> 32;
	u32 word = 0;

	if (!head || (u32)now != head->place.socket)
		return false;
	if (taken)
		return taken - (u32)length == head->place.taken;
	if (length >= 4)
		bpf_probe_read_user(&word, sizeof(word), (void *)buffer);
	return !begins_request(word);
}

/* Appends bytes to the scan; returns false if the memory cannot be read. */
static __always_inline bool append(struct ispan_scan *scan, u64 from, u64 length)
{
	u64 at = scan->length;

	barrier_var(length);
	if (length > HTTP_WINDOW)
		length = HTTP_WINDOW;
	barrier_var(length);
	if (length > HTTP_WINDOW || at > HTTP_WINDOW)
		return false;
	if (bpf_probe_read_user(scan->bytes + at, length, (void *)from))
		return false;
	scan->length = at + length;
	return true;
}

/*
 * Copies up to a window of bytes, from the first segments if there is a list. Not static, so that the verifier checks it once.
 */
__noinline int gather(const struct ispan_bytes *bytes)
{
	struct ispan_scan *scan = current_scan();
	u64 left;

	if (!bytes || !scan)
		return false;
	left = bytes->length;
	if (!bytes->list)
		return append(scan, bytes->buffer, left);
	for (int i = 0; i < HTTP_SEGMENTS && left; i++) {
		struct iovec segment;
		u64 length;

		if (i >= bytes->list_length || scan->length >= HTTP_WINDOW)
			break;
		if (bpf_probe_read_user(&segment, sizeof(segment), (void *)(bytes->list + i * sizeof(segment))))
			return false;
		length = segment.iov_len < left ? segment.iov_len : left;
		if (!append(scan, (u64)segment.iov_base, length))
			return false;
		left -= length;
	}
	return true;
}

static __always_inline void begin_scan(struct ispan_scan *scan, const struct ispan_head *unfinished)
{
	scan->end = 0;
	scan->line = HTTP_BASE;
	scan->length = HTTP_BASE;
	__builtin_memset(scan->bytes, 0, HTTP_BASE);
	if (!unfinished) {
		__builtin_memset(&scan->head, 0, sizeof(scan->head));
		return;
	}
	scan->head = *unfinished;
	__builtin_memcpy(scan->bytes + HTTP_BASE, unfinished->tail, HTTP_TAIL);
	scan->length += unfinished->tail_length > HTTP_TAIL ? HTTP_TAIL : unfinished->tail_length;
	if (unfinished->flags & HEAD_REQUEST_LINE)
		scan->bytes[HTTP_BASE - 1] = '\n';
}

/* Keeps the beginning of the incomplete line for the next read, and clears the rest of the buffer. */
static __always_inline void keep_tail(struct ispan_scan *scan)
{
	u32 line = scan->line & HTTP_MASK;
	u64 length = scan->length - scan->line;

	if (length > HTTP_TAIL)
		length = HTTP_TAIL;
	__builtin_memset(scan->head.tail, 0, HTTP_TAIL);
	barrier_var(length);
	if (length > HTTP_TAIL)
		return;
	scan->head.tail_length = length;
	bpf_probe_read_kernel(scan->head.tail, length, scan->bytes + line);
}

/* Parses bytes that continue an incomplete head, or begin a head. Returns NULL if the bytes cannot be read. */
static __always_inline struct ispan_scan *scan_head(const struct ispan_bytes *bytes, const struct ispan_head *unfinished)
{
	struct ispan_scan *scan = current_scan();

	if (!scan)
		return NULL;
	begin_scan(scan, unfinished);
	if (!gather(bytes)) {
		count(ISPAN_COUNT_HTTP_UNREADABLE);
		return NULL;
	}
	http_scan_text(scan->length);
	return scan;
}

#endif
