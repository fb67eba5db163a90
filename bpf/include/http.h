/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the head of an HTTP/1.x request (request line and headers), one bounded window at a time. A head may arrive in several
 * reads. In between, an ispan_head keeps the parsed values and the beginning of the incomplete line. This text is kept only until
 * the next read, and never written to the ring.
 */
#ifndef INFERSPAN_HTTP_H
#define INFERSPAN_HTTP_H

#include "emit.h"
#include "traceparent.h"

#define HTTP_WINDOW 8192 /* maximum bytes of one read that are parsed */
#define HTTP_TAIL 128    /* bytes kept of an incomplete line: enough for the header name, blanks and a request id that is too long */
#define HTTP_BASE 8      /* position in the buffer at which the text begins; the byte before it may be a line end */
#define HTTP_MASK (2 * HTTP_WINDOW - 1)
#define HTTP_STRIDE 32
#define HTTP_STRIDES ((HTTP_BASE + HTTP_TAIL + HTTP_WINDOW + HTTP_STRIDE - 1) / HTTP_STRIDE)
#define HTTP_SEGMENTS 4

#define HEAD_REQUEST_LINE 0x01 /* the request line was read */
#define HEAD_TRACEPARENT 0x02
#define HEAD_SAMPLED 0x04
#define HEAD_IGNORED 0x08 /* a traceparent that must be ignored: malformed, or not the only one */
#define HEAD_CHUNKED 0x10
#define HEAD_NOT_HTTP 0x20
#define HEAD_FINISHED 0x40
#define HEAD_NO_BODY 0x80 /* the method is HEAD: the response has no body */
#define HEAD_LENGTH 0x100  /* content_length is set */
#define HEAD_PIPELINED 0x200 /* the previous request has no response yet */
#define HEAD_REQUEST_ID 0x400
#define HEAD_ODD_ID 0x800 /* an x-request-id that is ignored: too long, with invalid bytes, or not the only one */

/* The position at which the incomplete head continues: a socket, and how many of its bytes have been read. */
struct ispan_place {
	u32 socket;
	u32 taken; /* 0 if the kernel does not count the bytes */
};

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

struct ispan_head {
	u32 flags;
	u32 tail_length;
	u64 content_length;
	struct ispan_place place;
	u8 trace_id[16];
	u8 span_id[8];
	char request_id[ISPAN_REQUEST_ID_BYTES];
	u8 tail[HTTP_TAIL];
};

struct ispan_scan {
	struct ispan_head head;
	struct ispan_request request; /* the request that begins, for which the stack has no room */
	u32 length; /* end of the text */
	u32 line;   /* start of the current line */
	u32 end;    /* end of the headers */
	u32 pad;
	u8 bytes[2 * HTTP_WINDOW + 256];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ispan_scan);
} scans SEC(".maps");

static __always_inline struct ispan_scan *current_scan(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&scans, &zero);
}

/*
 * Returns whether four bytes begin a request. Compares them as a little-endian word, because this runs for every read on the
 * machine.
 */
static __always_inline bool begins_request(u32 word)
{
	switch (word) {
	case 0x20544547: /* "GET " */
	case 0x54534f50: /* "POST" */
	case 0x20545550: /* "PUT " */
	case 0x44414548: /* "HEAD" */
	case 0x454c4544: /* "DELE" */
	case 0x43544150: /* "PATC" */
	case 0x4954504f: /* "OPTI" */
		return true;
	default:
		return false;
	}
}

/* Compares a header name without regard to case; name must be in lower case. */
#define HAS_NAME(text, name) has_name(text, name, sizeof(name) - 1)

static __always_inline bool has_name(const u8 *text, const char *name, int length)
{
	for (int i = 0; i < length; i++) {
		u8 c = text[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if (c != (u8)name[i])
			return false;
	}
	return true;
}

/* Returns whether the line ends in "HTTP/1.x", with or without a carriage return. */
static __always_inline bool ends_request_line(const struct ispan_scan *scan, u32 newline)
{
	const u8 *text = scan->bytes + ((newline - 9) & HTTP_MASK);

	if (newline < HTTP_BASE + 10)
		return false;
	if (text[8] != '\r')
		text++;
	return text[0] == 'H' && text[1] == 'T' && text[2] == 'T' && text[3] == 'P' && text[4] == '/' &&
	       text[5] == '1' && text[6] == '.';
}

static __always_inline bool is_blank(u8 c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static __always_inline u32 skip_blanks(const struct ispan_scan *scan, u32 from)
{
	for (int i = 0; i < 8; i++)
		if (is_blank(scan->bytes[from & HTTP_MASK]))
			from++;
	return from;
}

static __always_inline u32 skip_blanks_back(const struct ispan_scan *scan, u32 from, u32 to)
{
	for (int i = 0; i < 8; i++)
		if (to > from && is_blank(scan->bytes[(to - 1) & HTTP_MASK]))
			to--;
	return to;
}

static __always_inline void read_traceparent(struct ispan_scan *scan, u32 from, u32 to)
{
	int flags;

	from = skip_blanks(scan, from);
	to = skip_blanks_back(scan, from, to);
	if (scan->head.flags & (HEAD_TRACEPARENT | HEAD_IGNORED) || to < from) {
		scan->head.flags |= HEAD_IGNORED;
		return;
	}
	flags = traceparent_parse(scan->bytes + (from & HTTP_MASK), to - from, scan->head.trace_id, scan->head.span_id);
	if (flags < 0)
		scan->head.flags |= HEAD_IGNORED;
	else
		scan->head.flags |= HEAD_TRACEPARENT | (flags & TRACEPARENT_SAMPLED ? HEAD_SAMPLED : 0);
}

/* Counts the visible ASCII characters in eight bytes. */
static __always_inline u64 count_visible(u64 word)
{
	u64 low = word & ~HIGHS;
	u64 visible = (low + (0x80 - '!') * ONES) & ~(low + ONES) & ~word & HIGHS;

	return ((visible >> 7) * ONES) >> 56;
}

/*
 * Reads x-request-id. Accepts visible ASCII characters only, because others could be invisible in a log or end its line. Not
 * static, so that the verifier checks it once.
 */
__noinline int http_request_id(u32 from, u32 to)
{
	struct ispan_scan *scan = current_scan();
	u64 length, visible = 0;

	if (!scan)
		return 0;
	from = skip_blanks(scan, from);
	to = skip_blanks_back(scan, from, to);
	length = to - from;
	if (scan->head.flags & HEAD_REQUEST_ID || to <= from || length > ISPAN_REQUEST_ID_MOST) {
		scan->head.flags |= to == from ? 0 : HEAD_ODD_ID;
		return 0;
	}
	barrier_var(length);
	if (length > ISPAN_REQUEST_ID_MOST)
		return 0;
	__builtin_memset(scan->head.request_id, 0, sizeof(scan->head.request_id));
	bpf_probe_read_kernel(scan->head.request_id, length, scan->bytes + (from & HTTP_MASK));
	for (u32 i = 0; i < ISPAN_REQUEST_ID_BYTES; i += 8)
		visible += count_visible(*(u64 *)(scan->head.request_id + i));
	scan->head.flags |= visible == length ? HEAD_REQUEST_ID : HEAD_ODD_ID;
	return 0;
}

static __always_inline void read_content_length(struct ispan_scan *scan, u32 from)
{
	u64 value = 0;

	from = skip_blanks(scan, from);
	for (int i = 0; i < 12; i++) {
		u8 c = scan->bytes[(from + i) & HTTP_MASK];

		if (c < '0' || c > '9')
			break;
		value = value * 10 + (c - '0');
	}
	scan->head.content_length = value;
	scan->head.flags |= HEAD_LENGTH;
}

static __always_inline void read_header(struct ispan_scan *scan, u32 line, u32 newline)
{
	const u8 *text = scan->bytes + (line & HTTP_MASK);

	switch (text[0] | 0x20) {
	case 't':
		if (HAS_NAME(text, "traceparent:"))
			read_traceparent(scan, line + 12, newline);
		else if (HAS_NAME(text, "transfer-encoding:"))
			scan->head.flags |= HEAD_CHUNKED;
		break;
	case 'x':
		if (HAS_NAME(text, "x-request-id:"))
			http_request_id(line + 13, newline);
		break;
	case 'c':
		if (HAS_NAME(text, "content-length:"))
			read_content_length(scan, line + 15);
		break;
	}
}

/*
 * Handles the end of a line; returns nonzero if the scan is complete. A separate function, so that the verifier checks it once.
 */
__noinline int http_line_ends(u32 at)
{
	struct ispan_scan *scan = current_scan();

	if (!scan)
		return 1;
	at &= HTTP_MASK;
	if (at >= scan->length || scan->bytes[at] != '\n')
		return 0;
	if (at >= HTTP_BASE) {
		if (scan->head.flags & HEAD_REQUEST_LINE) {
			read_header(scan, scan->line, at);
		} else if (ends_request_line(scan, at)) {
			scan->head.flags |= HEAD_REQUEST_LINE;
			if (scan->bytes[scan->line & HTTP_MASK] == 'H')
				scan->head.flags |= HEAD_NO_BODY;
		} else {
			scan->head.flags |= HEAD_NOT_HTTP;
			return 1;
		}
	}
	scan->line = at + 1;
	if (at + 1 < scan->length && scan->bytes[at + 1] == '\n')
		scan->end = at + 2;
	else if (at + 2 < scan->length && scan->bytes[at + 1] == '\r' && scan->bytes[at + 2] == '\n')
		scan->end = at + 3;
	else
		return 0;
	scan->head.flags |= HEAD_FINISHED;
	return 1;
}

/*
 * Finds line ends in a few words of the buffer. The test of a word may also find bytes that are not line ends, but misses no line end.
 * Returns nonzero if the scan is complete. Not static: the verifier checks such a function once, so a plain loop can call it
 * hundreds of times on kernels without bpf_loop.
 */
__noinline int http_scan_stride(u32 index)
{
	struct ispan_scan *scan = current_scan();
	u32 from = (index * HTTP_STRIDE) & HTTP_MASK & ~(HTTP_STRIDE - 1);

	if (!scan)
		return 1;
	for (u32 offset = from; offset < from + HTTP_STRIDE; offset += 8) {
		u64 word = *(u64 *)(scan->bytes + (offset & HTTP_MASK)) ^ ('\n' * ONES);
		u64 hits = (word - ONES) & ~word & HIGHS;

		for (int i = 0; i < 8 && hits; i++, hits >>= 8)
			if (hits & 0x80 && http_line_ends(offset + i))
				return 1;
	}
	return 0;
}

/*
 * Parses the text up to the end of the headers. Not static: the verifier would check an inlined loop again on each path of the
 * caller, and loading the programs would take five times as long.
 */
__noinline int http_scan_text(u32 length)
{
	for (u32 i = 0; i < HTTP_STRIDES; i++)
		if (i * HTTP_STRIDE >= length || http_scan_stride(i))
			break;
	return 0;
}

#endif
