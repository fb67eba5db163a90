/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses the value of the traceparent header, according to W3C Trace Context level 2. */
#ifndef INFERSPAN_TRACEPARENT_H
#define INFERSPAN_TRACEPARENT_H

#include "kernel.h"

#define TRACEPARENT_BYTES 55
#define TRACEPARENT_BUFFER 56 /* one byte more than version 00 has, because a later version may continue after a dash */
#define TRACEPARENT_SAMPLED 0x01

/* Returns the value of a hexadecimal digit in lower case, which traceparent requires; negative for any other character. */
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

/* Parses count bytes; returns false if a digit is invalid or all bytes are zero. */
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

/*
 * Parses the first length bytes of text, which has TRACEPARENT_BUFFER bytes. Returns the trace flags, or -1 if the value is
 * invalid.
 */
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
