/* SPDX-License-Identifier: GPL-2.0-only */
/* The traceparent header's value, as W3C Trace Context level 2 says. */
#ifndef INFERSPAN_TRACEPARENT_H
#define INFERSPAN_TRACEPARENT_H

#include "kernel.h"

#define TRACEPARENT_BYTES 55
#define TRACEPARENT_BUFFER 56 /* one more: a later version may go on behind a dash */
#define TRACEPARENT_SAMPLED 0x01

/* Lower case only: upper case digits are not a traceparent. Negative when it is no digit. */
static __always_inline int hex(u8 c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static __always_inline int hex_byte(const u8 *text)
{
	return hex(text[0]) << 4 | hex(text[1]);
}

/* Reads count bytes; false when one is no hex or all are zero. Negative digits stay negative through the shift and or. */
static __always_inline bool hex_bytes(const u8 *text, u8 *bytes, int count)
{
	int all = 0;

	for (int i = 0; i < count; i++) {
		int high = hex(text[2 * i]);
		int low = hex(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = high << 4 | low;
		all |= bytes[i];
	}
	return all != 0;
}

/* text holds TRACEPARENT_BUFFER bytes of which length count. The trace flags, or -1 for one to be ignored. */
static __always_inline int traceparent_parse(const u8 *text, u64 length, u8 *trace_id, u8 *span_id)
{
	int version;
	int flags;

	if (length < TRACEPARENT_BYTES)
		return -1;
	if (hex(text[0]) < 0 || hex(text[1]) < 0 || hex(text[53]) < 0 || hex(text[54]) < 0)
		return -1;
	version = hex_byte(text);
	flags = hex_byte(text + 53);
	if (version == 0xff || text[2] != '-' || text[35] != '-' || text[52] != '-')
		return -1;
	if (length > TRACEPARENT_BYTES && (version == 0 || text[TRACEPARENT_BYTES] != '-'))
		return -1;
	if (!hex_bytes(text + 3, trace_id, 16) || !hex_bytes(text + 36, span_id, 8))
		return -1;
	return flags;
}

#endif
