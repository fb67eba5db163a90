/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fast path of the decoder of an engine's messages. An output is the array with a request's new tokens. Outputs of the most
 * common form are decoded at once; msgpack.h decodes the others byte by byte.
 */
#ifndef INFERSPAN_OUTPUTS_H
#define INFERSPAN_OUTPUTS_H

#include "msgpack.h"

/* Returns the size of a scalar value; 0 for text, containers and extension types. */
static __always_inline u32 zmtp_scalar_bytes(u8 head)
{
	if (head < 0x80 || head >= 0xe0)
		return 1;
	if (head < 0xc0 || head > 0xd3)
		return 0;
	return (head < 0xd0 ? 0x9532950000001101 : 0x9532) >> (head & 15) * 4 & 15;
}

/* Size of the buffer: a power of two, and at least eight bytes more than the longest output that is decoded at once. */
#define ZMTP_PLAIN_BYTES 256

/* The padding allows reads beyond the end of the data. */
struct zmtp_bytes {
	u8 at[ZMTP_PLAIN_BYTES + 8];
};

/* Limits a position to the buffer. Older verifiers would otherwise check each of its possible values separately. */
static __always_inline u32 zmtp_place(u32 at)
{
	barrier_var(at);
	return at & (ZMTP_PLAIN_BYTES - 1);
}

/* Returns the eight bytes at a position as one number, the first byte lowest. */
static __always_inline u64 zmtp_eight(const struct zmtp_bytes *bytes, u32 at)
{
	u64 eight = 0;

	for (u32 i = 0; i < 8; i++)
		eight |= (u64)bytes->at[at + i] << i * 8;
	return eight;
}

#define EACH(byte) (0x0101010101010101ull * (byte))

/* Sets the high bit of each of eight bytes that is not nil. */
static __always_inline u64 zmtp_not_nil(u64 eight)
{
	u64 other = eight ^ EACH(0xc0);

	return (((other & EACH(0x7f)) + EACH(0x7f)) | other) & EACH(0x80);
}

/* Returns whether each of the lowest bytes, `first` in number, is a small number or nil. */
static __always_inline bool zmtp_are_small(u64 eight, u32 first)
{
	return first == 0 || !((eight & zmtp_not_nil(eight)) << (8 - first) * 8);
}

static __always_inline bool zmtp_begins_output(const struct zmtp *z)
{
	return z->at == AT_VALUE && z->value == VALUE_OUTPUT && !z->nested;
}

/*
 * Decodes an output at once if it is complete and has the common form: one token, and fields that are nil or small, except the
 * number of cached tokens. Returns its size, or 0 if it must be decoded byte by byte, which is slow: a step may have hundreds
 * of outputs.
 */
ZMTP_APART int zmtp_plain_output(struct zmtp *z, const struct zmtp_bytes *bytes, u64 available)
{
	u32 fields, text, id = 2, at, size;
	u64 eight;

	if (!z || !bytes || bytes->at[0] < 0x97 || bytes->at[0] > 0x9f)
		return 0;
	fields = bytes->at[0] & 15;
	text = bytes->at[1] & 31;
	if (bytes->at[1] == 0xd9) {
		text = bytes->at[2];
		id = 3;
	} else if (bytes->at[1] < 0xa0 || bytes->at[1] > 0xbf) {
		return 0;
	}
	if (!text || text >= ZMTP_ID_BYTES)
		return 0;
	at = zmtp_place(id + text);
	if (bytes->at[at] != 0x91) /* not one token; a loop over several would not load on Linux 6.1 */
		return 0;
	size = zmtp_scalar_bytes(bytes->at[zmtp_place(at + 1)]);
	if (!size)
		return 0;
	at += 1 + size;
	eight = zmtp_eight(bytes, zmtp_place(at));
	if (!zmtp_are_small(eight, fields < 10 ? fields - 2 : 8))
		return 0;
	at += fields < 10 ? fields - 2 : 8;
	if (fields > 10) {
		size = zmtp_scalar_bytes(bytes->at[zmtp_place(at)]);
		at += size;
		if (!size || !zmtp_are_small(zmtp_eight(bytes, zmtp_place(at)), fields - 11))
			return 0;
		at += fields - 11;
	}
	if (at > available || at >= z->left)
		return 0;
	__builtin_memset(z->id.text, 0, sizeof(z->id.text));
	ZMTP_COPY(z->id.text, text, bytes->at + id);
	z->left -= at;
	z->id_length = z->id_read = text;
	z->length = z->field = fields;
	z->tokens = 1;
	z->finished = zmtp_not_nil(eight) >> ((fields < 10 ? 2 : 3) * 8 + 7) & 1;
	z->event = ZMTP_OUTPUT;
	z->value = --z->count ? VALUE_OUTPUT : VALUE_STATS;
	return at;
}

#endif
